package controlplane

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Spellings that people and programs have written, and those at which readers have differed.
var knownQuantities = []string{
	"", "0", "-0", "00", "+", "-", ".", "+.", "1", "+1", "-1", "1.", ".5", "-.5", "0.5", "1.0", "8.0", "5.", "+8",
	"1000m", "1500m", "500m", "8000m", "10e-1", "1000000u", "999999999n", "0.9999", "0.9999999999", "1u", "1n",
	"0.1n", "1e0", "1E0", "1e3", "1E3", "1e+3", "1e-3", "1e1", "1e", "1E", "1e+", "1ee3", "1e3.5", "1e1000000",
	"1e-1000000", "1000", "1k", "8k", "1K", "1M", "1G", "1T", "1P", "1Pi", "1Ei", "8Ei", "7.99Ei", "9Ei", "16Ei",
	"-8Ei", "-9Ei", "1Ki", "2Ki", "0.5Ki", "0.1Ki", "1Mi", "1mi", "1i", "1Gi", "1Ti", "1.5Gi", "1Kii", "1ki",
	"1 ", " 1", "1 Gi", "\t1", "1\r", "0x8", "8_0", "1,000", "1,5", "NaN", "Inf", "1_000", "٣", "1Gi ", "1GiB", "1GB",
	"1b", "1B", "1024", "1023Ki", "1025Ki", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"-9223372036854775809", "9223372036854775.807", "9223372036854775.808", "99999999999999999999", "1e18", "1e19",
	"9.3E", "10E", "100000000000000000000000000n", "0.000000001", "0.0000000001", "-0.0000000001", "1.0000000001",
	"12345678901234567890.123456789123456789", "1000000000000000000000000000000", "3.14159265358979", "1m1", "1Gi1",
	"--1", "+-1", "1-", "1+", "1e--3", "1e 3", "e3", "Ki", "m", "1.2.3", "1..2", "..1", "\x00", "1\x00", "\xff", "1e308",
	"1e-9", "1e-10", "-1e-10", "1.5e-9", "2.5e-9", "1e2147483647e", "000000000000000000000000001", "0.000e5",
	"18446744073709551615", "18446744073709551616", "1.7976931348623157", "1Zi", "1Yi", "1Z", "1h", "1c", "1d", "1da",
}

const randomQuantities = 150_000

// generated makes odd and mutated spellings beside valid ones. Exponents stay small here, since
// apimachinery computes 10^exponent in full; long ones are in the table.
func generated(random *rand.Rand) string {
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	var text strings.Builder
	text.WriteString([]string{"", "", "", "", "", "-", "+"}[random.IntN(7)])
	digits := func(most int) {
		for range random.IntN(most + 1) {
			text.WriteByte("0123456789"[random.IntN(10)])
		}
	}
	switch random.IntN(6) {
	case 0:
		fmt.Fprint(&text, random.IntN(2000))
	case 1:
		fmt.Fprint(&text, random.Int64())
	case 2:
		// Round numbers end in the suffix family's own steps.
		fmt.Fprint(&text, (random.IntN(64)+1)<<random.IntN(40))
	case 3:
		fmt.Fprintf(&text, "%d%s", random.IntN(1000)+1, strings.Repeat("0", random.IntN(22)))
	default:
		digits(24)
	}
	if random.IntN(3) == 0 {
		text.WriteByte('.')
		digits(14)
	}
	switch random.IntN(4) {
	case 0:
		text.WriteString([]string{"e", "E"}[random.IntN(2)])
		text.WriteString([]string{"", "-", "+"}[random.IntN(3)])
		fmt.Fprint(&text, random.IntN([]int{4, 20, 40}[random.IntN(3)]))
	default:
		text.WriteString(suffixes[random.IntN(len(suffixes))])
	}
	out := []byte(text.String())
	if random.IntN(5) == 0 {
		const alphabet = "0123456789.+-eEKMGTPkimnu _x,\x00\xc3"
		letter := alphabet[random.IntN(len(alphabet))]
		switch at := random.IntN(len(out) + 1); {
		case random.IntN(3) == 0 || at == len(out):
			out = append(out[:at], append([]byte{letter}, out[at:]...)...)
		case random.IntN(2) == 0:
			out = append(out[:at], out[at+1:]...)
		default:
			out[at] = letter
		}
	}
	// A mutation can join digits to a long exponent. Those of the table are enough.
	if i := strings.IndexAny(string(out), "eE"); i >= 0 && len(out)-i > 5 {
		out = out[:i+4]
	}
	return string(out)
}

// expected is the probe's line for a spelling, computed by Kubernetes' own code.
func expected(t *testing.T, text string, previous *resource.Quantity) (string, *resource.Quantity) {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return "error", nil
	}
	number, suffix := quantity.CanonicalizeBytes(nil)
	comparison := 0
	if previous != nil {
		comparison = quantity.Cmp(*previous)
	}
	value := rounded(quantity, 0)
	milli := rounded(quantity, 3)
	if quantity.Sign() >= 0 {
		if value != "overflow" && value != fmt.Sprint(quantity.Value()) || milli != "overflow" && milli != fmt.Sprint(quantity.MilliValue()) {
			t.Errorf("%q: Value() is %d and MilliValue() %d, this test worked out %s and %s", text,
				quantity.Value(), quantity.MilliValue(), value, milli)
		}
	}
	return fmt.Sprintf("%s%s\t%s\t%s\t%d", number, suffix, value, milli, comparison), &quantity
}

// rounded is what Value() and MilliValue() are documented to be: rounded up, away from zero. For
// negative quantities apimachinery 0.37 does not keep to it (-1085m.Value() is 0, -133Ti.Value() is
// -7706221911), which matters to nobody, since the API server refuses negative requests.
func rounded(quantity resource.Quantity, thousandths inf.Scale) string {
	value := new(inf.Dec).Set(quantity.AsDec())
	value.SetScale(value.Scale() - thousandths)
	value.Round(value, 0, inf.RoundUp)
	if value.Cmp(inf.NewDec(math.MaxInt64, 0)) > 0 || value.Cmp(inf.NewDec(math.MinInt64, 0)) < 0 {
		return "overflow"
	}
	return value.String()
}

func TestQuantitiesAreReadAsTheAPIServerReadsThem(t *testing.T) {
	const seed = 20
	random := rand.New(rand.NewPCG(seed, seed))
	lines := slices.Clone(knownQuantities)
	for len(lines) < len(knownQuantities)+randomQuantities {
		lines = append(lines, strings.ReplaceAll(generated(random), "\n", ""))
	}
	answers := probe(t, "QUANTITY_PROBE", "kube/quantity_probe", strings.Join(lines, "\n")+"\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d lines in, %d out", len(lines), len(answers))
	}
	var previous *resource.Quantity
	accepted, wrong := 0, 0
	for i, text := range lines {
		want, quantity := expected(t, text, previous)
		if quantity != nil {
			previous = quantity
			accepted++
		}
		if answers[i] != want {
			if wrong++; wrong <= 40 {
				t.Errorf("%q: ours %q, Kubernetes %q", text, answers[i], want)
			}
		}
	}
	if wrong > 40 {
		t.Errorf("%d of %d differ", wrong, len(lines))
	}
	// A generator that made only valid or only broken spellings would prove little.
	if share := float64(accepted) / float64(len(lines)); share < 0.5 || share > 0.95 {
		t.Errorf("%.0f %% of the spellings are valid, want a mixture", 100*share)
	}
	t.Logf("%d spellings, %d of them valid", len(lines), accepted)
}
