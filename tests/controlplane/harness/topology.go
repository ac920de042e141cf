package harness

// TopologyAnnotation is where a node's own report stands.
const TopologyAnnotation = "rankward.io/topology"

func TopologyReport(near bool) string { return "" }
