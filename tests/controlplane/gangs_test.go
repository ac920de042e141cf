package controlplane

import "testing"

// Everything that holds for a gang holds with nomination and, slower, without.
func TestGangs(t *testing.T) {
	for _, mode := range []struct {
		name     string
		nominate bool
	}{{"nominated", true}, {"unnominated", false}} {
		t.Run(mode.name, func(t *testing.T) {
			installedWith(t, map[string]any{"nominate": mode.nominate})
			for _, test := range []struct {
				name string
				run  func(t *testing.T, pool string)
			}{
				{"race", racingGangs},
				{"uneven-capacities", unevenCapacities},
				{"ranks-in-order", ranksInOrder},
				{"one-candidate", oneCandidate},
				{"fewer-candidates", fewerCandidatesThanPlanned},
				{"pinned", pinnedRanks},
				{"pinned-in-vain", pinnedRankThatCannotRun},
				{"unknown-size", unknownSize},
				{"late-rank", lateRank},
				{"replaced-rank", replacedAndExtraRanks},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, test.name+"-"+mode.name) })
			}
		})
	}
}
