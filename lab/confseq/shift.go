package confseq

import "math"

// Steepness are the bets that LogShift spreads its unit over: 1/10, 1/30, 1/90 and 1/270 is the
// difference by which each reaches about half of what a sign alone would gain.
var Steepness = [4]float64{10, 30, 90, 270}

// Placed is the share of what it has that LogShift bets on each block. It keeps the rest, so no
// block alone can end the bet, and one that cannot tell costs nineteen parts of twenty.
const Placed = 0.95

// LogShift is the natural logarithm of an e-value for "in each block one figure lies above its
// others". The differences d are those of that figure to each of the others, usually of logarithms;
// their sizes are about those of Steepness. Where LogE counts signs, this weighs them: a block with
// large differences counts more than one with small ones. Of a block of one figure and m others, with
// a steepness s, what is bet becomes
//
//	(m + 1) / (1 + exp(-s·d1) + ... + exp(-s·dm))
//
// times as much. Assumed is that if nothing differs, the figures of a block are exchangeable: given
// all of them, each is as likely to be the one as any other. Then the mean over which of them it is
// is 1, whatever the figures are, skewed or with outliers, and whatever came before. An
// experiment can guarantee that: by drawing in each block which of like things is called what. As
// each term falls with the one figure, the bet gains nothing on average either where that figure
// lies below what it would be if nothing differed. With one other, this is a bet on a sign that
// is fair given its size: 1 + tanh(s·d/2).
//
// It panics if a difference is not a number. That of a block that cannot tell is minus infinity.
//
// For symmetric differences see de la Peña, "A general class of exponential inequalities for
// martingales and ratios" (1999); Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform,
// nonparametric, nonasymptotic confidence sequences" (2021). See also Vovk and Wang, "Nonparametric
// e-tests of symmetry" (2024). For likelihood ratios over all orders that are as likely see Koning,
// "Post-hoc and anytime valid permutation and group invariance testing" (2023).
func LogShift(blocks [][]float64) float64 {
	var logs [len(Steepness)]float64
	for _, differences := range blocks {
		for i, s := range Steepness {
			sum := 1.0
			for _, d := range differences {
				if math.IsNaN(d) {
					panic("confseq: a difference is not a number")
				}
				sum += math.Exp(-s * d)
			}
			logs[i] += math.Log(1 - Placed + Placed*float64(len(differences)+1)/sum)
		}
	}
	return LogMean(logs[:]...)
}
