// Check what the house signs and proves with Go's own packages, which know nothing of it.
//
// check FOLDER: FOLDER holds "keys"; "checkpoint" and older "checkpoints/SIZE"; "proofs/LEAF" with the hashes that lead
// from a leaf to the root, "entries/LEAF" with its bytes, and "consistency/SIZE" from an older tree to the last; where
// there is a file "witnesses", the keys of those who must have cosigned the checkpoint.
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

var folder string

func main() {
	folder = os.Args[1]
	tree := open("checkpoint")
	for _, path := range all("proofs") {
		leaf := number(path)
		hash := tlog.RecordHash(read("entries/" + filepath.Base(path)))
		demand(path, tlog.CheckRecord(tlog.RecordProof(hashes(path)), tree.N, tree.Hash, leaf, hash))
		fmt.Println("record", leaf)
	}
	for _, path := range all("consistency") {
		older := open("checkpoints/" + filepath.Base(path))
		demand(path, tlog.CheckTree(tlog.TreeProof(hashes(path)), tree.N, tree.Hash, older.N, older.Hash))
		fmt.Println("tree", older.N)
	}
}

// open has the note package check the signature of the log, and returns the tree that was signed.
func open(path string) tlog.Tree {
	var verifiers []note.Verifier
	for _, line := range strings.Fields(string(read("keys"))) {
		// Keys that carry the time are of a kind that this package does not know.
		if verifier, err := note.NewVerifier(line); err == nil {
			verifiers = append(verifiers, verifier)
		}
	}
	witnesses := cosigners()
	opened, err := note.Open(read(path), note.VerifierList(append(verifiers, witnesses...)...))
	demand(path, err)
	lines := strings.SplitN(opened.Text, "\n", 4)
	size, err := strconv.ParseInt(lines[1], 10, 64)
	demand(path, err)
	hash, err := tlog.ParseHash(lines[2])
	demand(path, err)
	if lines[0] != opened.Sigs[0].Name {
		demand(path, fmt.Errorf("origin %q", lines[0]))
	}
	fmt.Println("note", size)
	fmt.Println("signatures", len(opened.Sigs))
	for _, witness := range witnesses {
		for _, signature := range opened.Sigs {
			if signature.Name == witness.Name() && signature.Hash == witness.KeyHash() {
				fmt.Println("cosigned by", witness.Name())
			}
		}
	}
	return tlog.Tree{N: size, Hash: hash}
}

// cosigner verifies cosignature/v1 (C2SP tlog-cosignature), a kind of key that the note package leaves to others.
type cosigner struct {
	name   string
	hash   uint32
	public ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.hash }
func (c cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	head := fmt.Sprintf("cosignature/v1\ntime %d\n", binary.BigEndian.Uint64(signature))
	return ed25519.Verify(c.public, append([]byte(head), text...), signature[8:])
}

func cosigners() []note.Verifier {
	var found []note.Verifier
	if _, err := os.Stat(filepath.Join(folder, "witnesses")); err != nil {
		return found
	}
	for _, line := range strings.Fields(string(read("witnesses"))) {
		parts := strings.SplitN(line, "+", 3)
		hash, err := strconv.ParseUint(parts[1], 16, 32)
		demand(line, err)
		key, err := base64.StdEncoding.DecodeString(parts[2])
		demand(line, err)
		found = append(found, cosigner{parts[0], uint32(hash), ed25519.PublicKey(key[1:])})
	}
	return found
}

func all(name string) []string {
	found, err := filepath.Glob(filepath.Join(folder, name, "*"))
	demand(name, err)
	for at, path := range found {
		found[at] = name + "/" + filepath.Base(path)
	}
	return found
}

func number(path string) int64 {
	value, err := strconv.ParseInt(filepath.Base(path), 10, 64)
	demand(path, err)
	return value
}

func hashes(path string) []tlog.Hash {
	var found []tlog.Hash
	for _, line := range strings.Fields(string(read(path))) {
		bytes, err := base64.StdEncoding.DecodeString(line)
		demand(path, err)
		var hash tlog.Hash
		copy(hash[:], bytes)
		found = append(found, hash)
	}
	return found
}

func read(path string) []byte {
	content, err := os.ReadFile(filepath.Join(folder, path))
	demand(path, err)
	return content
}

func demand(what string, err error) {
	if err != nil {
		fmt.Println("REFUSED", what, err)
		os.Exit(1)
	}
}
