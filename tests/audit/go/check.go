// Check what the house signs and proves with Go's own packages, which know nothing of it.
//
// check FOLDER: FOLDER holds "keys"; "checkpoint" and older "checkpoints/SIZE"; "proofs/LEAF" with the hashes that lead
// from a leaf to the root, "entries/LEAF" with its bytes, and "consistency/SIZE" from an older tree to the last.
package main

import (
	"encoding/base64"
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
	opened, err := note.Open(read(path), note.VerifierList(verifiers...))
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
	return tlog.Tree{N: size, Hash: hash}
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
