package harness

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// Sample is one line of Prometheus' text format.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

// Samples of a metrics page. Label values with quotes or braces in them do not occur here.
type Samples []Sample

// ParseSamples reads Prometheus' text format.
func ParseSamples(text string) (Samples, error) {
	var samples Samples
	scanner := bufio.NewScanner(strings.NewReader(text))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := scanner.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		series, value, found := cutLast(line, " ")
		if !found {
			return nil, fmt.Errorf("no sample: %q", line)
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		name, labels, _ := strings.Cut(series, "{")
		sample := Sample{Name: name, Labels: map[string]string{}, Value: number}
		for _, pair := range strings.Split(strings.TrimSuffix(labels, "}"), "\",") {
			if key, value, found := strings.Cut(pair, "=\""); found {
				sample.Labels[key] = strings.TrimSuffix(value, "\"")
			}
		}
		samples = append(samples, sample)
	}
	return samples, scanner.Err()
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// Metrics of the API server.
func (cp *ControlPlane) Metrics(ctx context.Context) (Samples, error) {
	text, err := cp.Client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	return ParseSamples(string(text))
}

// Metrics of the server.
func (r *Rankward) Metrics() (Samples, error) {
	status, text, err := r.Status("/metrics")
	if err == nil && status != 200 {
		err = fmt.Errorf("/metrics: %d %s", status, text)
	}
	if err != nil {
		return nil, err
	}
	return ParseSamples(text)
}

func (s Sample) has(labels map[string]string) bool {
	for key, value := range labels {
		if s.Labels[key] != value {
			return false
		}
	}
	return true
}

// Sum of all series of a name that have these labels, whatever others they have.
func (s Samples) Sum(name string, labels map[string]string) float64 {
	sum := 0.0
	for _, sample := range s {
		if sample.Name == name && sample.has(labels) {
			sum += sample.Value
		}
	}
	return sum
}

// Quantile of what a histogram has seen since an earlier look, as Prometheus' histogram_quantile has
// it: evenly spread within a bucket. Also the number of observations.
func (s Samples) Quantile(earlier Samples, q float64, name string, labels map[string]string) (value, count float64) {
	buckets := map[float64]float64{}
	for sign, samples := range map[float64]Samples{1: s, -1: earlier} {
		for _, sample := range samples {
			if sample.Name == name+"_bucket" && sample.has(labels) {
				bound, err := strconv.ParseFloat(sample.Labels["le"], 64)
				if err == nil {
					buckets[bound] += sign * sample.Value
				}
			}
		}
	}
	var bounds []float64
	for bound := range buckets {
		bounds = append(bounds, bound)
	}
	sort.Float64s(bounds)
	if len(bounds) == 0 {
		return math.NaN(), 0
	}
	count = buckets[bounds[len(bounds)-1]]
	wanted := q * count
	lower, below := 0.0, 0.0
	for _, bound := range bounds {
		if inside := buckets[bound] - below; buckets[bound] >= wanted && inside > 0 {
			if math.IsInf(bound, 1) {
				return lower, count
			}
			return lower + (bound-lower)*(wanted-below)/inside, count
		}
		lower, below = bound, buckets[bound]
	}
	return lower, count
}
