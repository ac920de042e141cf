package controlplane

import (
	"maps"
	"testing"
)

// Everything that holds for a gang holds with nomination and, slower, without.
var modes = []struct {
	name     string
	nominate bool
}{{"nominated", true}, {"unnominated", false}}

// inBothModes runs a test twice, on the shared installation with these settings. Names of what the test
// makes end in the mode.
func inBothModes(t *testing.T, settings map[string]any, run func(t *testing.T, mode string)) {
	t.Helper()
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			all := map[string]any{"nominate": mode.nominate}
			maps.Copy(all, settings)
			installedWith(t, all)
			run(t, mode.name)
		})
	}
}

func TestGangs(t *testing.T) {
	inBothModes(t, nil, func(t *testing.T, mode string) {
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
			t.Run(test.name, func(t *testing.T) { test.run(t, test.name+"-"+mode) })
		}
	})
}
