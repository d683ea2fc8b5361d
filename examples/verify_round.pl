#!/usr/bin/env perl
# Check rounds and shoes of a Sabot house in a second language. Needs Perl and its core modules alone.
#
#     perl examples/verify_round.pl FILE...
#
# FILE is what "Save the proof" gives with a round or a shoe, a page or JSON, or one of docs/vectors/. Of
# a shoe in play each dealt card is held against the root that was shown before the first bet. Where the
# seed is public, commitment and shuffle are made from it. The dealer's signature is not verified.
# docs/randomness.md has every byte.
#
# Exit status 0: all matches; 1: something does not; 2: a file cannot be read.
use strict;
use warnings;
use Digest::SHA qw(sha256 sha256_hex hmac_sha256);
use JSON::PP qw(decode_json);
use List::Util qw(all);

my @RANKS = qw(A 2 3 4 5 6 7 8 9 T J Q K);
my @DECK = map { my $suit = $_; map { "$_$suit" } @RANKS } qw(C D H S);
my %POINTS = (A => 1, (map { $_ => $_ } 2 .. 9), map { $_ => 0 } qw(T J Q K));
# Banker's two-card total -> points of Player's third card for which Banker draws.
my @BANKER_DRAWS = ('0123456789', '0123456789', '0123456789', '012345679', '234567', '4567', '67', '');
my $failed = 0;

sub utf8 { my $text = shift; utf8::encode($text); return $text }

sub check {
    my ($what, $is_right) = @_;
    printf "%-24s %s\n", $what, $is_right ? 'matches' : 'DOES NOT MATCH';
    $failed ||= !$is_right;
}

# The commitment to a seed (hex), by what it names.
sub commitment {
    my $of = shift;
    return sha256_hex(join '', map { "$_\n" } 'sabot commitment v2',
        (map { "$_=$of->{$_}" } qw(purpose id table decks rules)), "seed=$of->{seed}");
}

# HKDF with SHA-256 (RFC 5869), to its full length.
sub hkdf {
    my ($seed, $value, $info) = @_;
    my $key = hmac_sha256($seed, utf8($value));
    my ($block, $bytes) = ('', '');
    $bytes .= $block = hmac_sha256($block . $info . chr($_), $key) for 1 .. 255;
    return $bytes;
}

# All cards in dealing order: Fisher-Yates, which skips numbers that would favour some positions.
sub shuffled {
    my ($seed, $decks, $value) = @_;
    my @cards = (@DECK) x $decks;
    my @numbers = unpack 'n*', hkdf($seed, $value, "sabot shuffle v1, decks=$decks");
    for my $last (reverse 1 .. $#cards) {
        my $number = shift @numbers;
        $number = shift @numbers while $number >= 65536 - 65536 % ($last + 1);
        my $other = $number % ($last + 1);
        @cards[$last, $other] = @cards[$other, $last];
    }
    return @cards;
}

sub total { my $sum = 0; $sum += $POINTS{substr $_, 0, 1} for @_; return $sum % 10 }

# The cards of the round that begins with this card (from 0), in dealing order.
sub coup {
    my ($first, @cards) = @_;
    my @dealt = @cards[$first .. $first + 3];
    my ($player, $banker) = (total(@dealt[0, 2]), total(@dealt[1, 3]));
    return @dealt if $player >= 8 || $banker >= 8;
    my $draws = $banker <= 5;
    if ($player <= 5) {
        push @dealt, $cards[$first + 4];
        $draws = index($BANKER_DRAWS[$banker], $POINTS{substr $dealt[4], 0, 1}) >= 0;
    }
    push @dealt, $cards[$first + @dealt] if $draws;
    return @dealt;
}

sub leaf { my ($place, $card, $salt) = @_; return sha256("\0sabot card v1\nplace=$place\ncard=$card\nsalt=$salt\n") }
sub node { return sha256("\1$_[0]$_[1]") }

# The largest power of two below a number.
sub left { my ($size, $power) = (shift, 1); $power *= 2 while $power * 2 < $size; return $power }

# The root over leaves (RFC 6962, 2.1).
sub root {
    return $_[0] if @_ == 1;
    my $left = left(scalar @_);
    return node(root(@_[0 .. $left - 1]), root(@_[$left .. $#_]));
}

# The root to which a path leads from the leaf at this place.
sub climb {
    my ($place, $size, $leaf, @path) = @_;
    return @path ? '' : $leaf if $size == 1;
    return '' if !@path;
    my ($left, $other) = (left($size), pack 'H*', pop @path);
    return node(climb($place, $left, $leaf, @path), $other) if $place < $left;
    return node($other, climb($place - $left, $size - $left, $leaf, @path));
}

# Whether each of these cards is committed to, and each lies behind the one before.
sub are_committed {
    my ($shoe, @cards) = @_;
    return all {
        my $card = $cards[$_];
        my $leaf = leaf(@{$card}{qw(place card salt)});
        my $way = $shoe->{leaves} ? unpack('H*', $leaf) eq ($shoe->{leaves}[$card->{place}] // '')
            : unpack('H*', climb($card->{place}, 52 * $shoe->{decks}, $leaf, @{$card->{path}})) eq $shoe->{root};
        $way && $card->{place} == $cards[0]{place} + $_;
    } 0 .. $#cards;
}

# What goes into the shuffle of a shoe in addition to its seed, from what players added, each as "digest value", and the
# line of a public beacon, whose signature is not verified here. Empty if there is none, or if a value is not the one its
# player was bound to.
sub entropy {
    my @chances = @_;
    my @values = grep { !/^beacon / } @chances;
    return '' if !@chances || "@values" ne "@{[sort @values]}" || @values < $#chances;
    return '' if @values < @chances && $chances[-1] !~ /^beacon /;
    return '' if !all { my ($digest, $value) = split / /; $digest eq sha256_hex($value) } @values;
    return sha256_hex(join '', map { "$_\n" } 'sabot cut v1', @chances);
}

sub check_case {
    my $of = shift;
    my $is_shoe = defined $of->{root};
    my $value = $is_shoe ? $of->{entropy} : $of->{player_value};
    check('entropy', entropy(@{$of->{chances}}) eq $value) if $of->{chances};
    if ($of->{leaves}) {
        my @leaves = map { pack 'H*', $_ } @{$of->{leaves}};
        check('root', @leaves == 52 * $of->{decks} && unpack('H*', root(@leaves)) eq $of->{root});
    }
    my $burn = ref $of->{burn} ? $of->{burn} : undef;
    check('burn card', are_committed($of, $burn) && $burn->{place} == 0) if $burn && $of->{leaves};
    my @rounds = $of->{coup} ? ({ number => '', cards => $of->{coup} }) : @{$of->{rounds} // []};
    check("round $_->{number}", are_committed($of, @{$_->{cards}})) for @rounds;
    return if !defined $of->{seed};
    my $seed = pack 'H*', $of->{seed};
    my @cards = shuffled($seed, $of->{decks}, $value);
    check('commitment', commitment($of) eq $of->{commitment});
    check('order', sha256_hex("@cards") eq $of->{order_sha256}) if $of->{order_sha256};
    check('cards', join(' ', coup(0, @cards)) eq $of->{cards}) if !$is_shoe;
    return if !$is_shoe;
    my @salts = unpack '(H32)*', hkdf($seed, $value, 'sabot salts v1');
    check('root of the shuffle', unpack('H*', root(map { leaf($_, $cards[$_], $salts[$_]) } 0 .. $#cards)) eq $of->{root});
    my $gone = $of->{purpose} eq 'shoe' ? 1 + ($POINTS{substr $cards[0], 0, 1} || 10) : 0;
    for my $round (grep { @{$_->{cards}} } $of->{rounds} ? @rounds : ()) {
        my @dealt = map { $_->{card} } @{$round->{cards}};
        my @due = $of->{purpose} eq 'shoe' ? coup($gone, @cards) : @cards[$gone .. $gone + $#dealt];
        check("round $round->{number} of the shuffle", $round->{cards}[0]{place} == $gone && "@dealt" eq "@due");
        $gone += @dealt;
    }
}

for my $name (@ARGV) {
    open my $file, '<', $name or do { warn "$name: $!\n"; exit 2 };
    my $text = do { local $/; <$file> };
    ($text) = $text =~ m{id="proof">(.*?)</script>}s if $text =~ /^\s*</;
    my $read = eval { decode_json($text) } or do { warn "$name is no JSON: $@"; exit 2 };
    check_case($_) for ref $read eq 'ARRAY' ? @$read : $read;
}
exit $failed;
