package harness

import (
	"context"
	"fmt"
)

// Replica is Rankward beside a kube-scheduler, as on one control-plane node: without the webhook,
// each started again after it has ended, as a kubelet would.
type Replica struct {
	Name      string
	Rankward  *Rankward
	Scheduler *Scheduler

	cluster      *ControlPlane
	root         string
	certificates Certificates
	kubeconfig   string
	options      ReplicaOptions
	extenderPort int
}

// ReplicaOptions of all replicas of a cluster.
type ReplicaOptions struct {
	Settings map[string]any // of Rankward's configuration
	// LeaderElection of the schedulers; nil: a scheduler that is alone.
	LeaderElection map[string]any
	FeatureGates   []string // of the scheduler
	Verbosity      int      // of the scheduler
}

const extenderDoor = `
apiVersion: config.rankward.io/v1alpha1
kind: RankwardConfiguration
doors: [extender]
schedulerNames: [default-scheduler]
tls: {extender: {}}
log: {verbosity: 4, format: json}
`

// StartReplica starts both. kubeconfig is that of InstallPermissions.
func StartReplica(ctx context.Context, cluster *ControlPlane, root string, certificates Certificates, kubeconfig, name string, options ReplicaOptions) (*Replica, error) {
	r := &Replica{Name: name, cluster: cluster, root: root, certificates: certificates, kubeconfig: kubeconfig, options: options}
	var err error
	if r.extenderPort, err = FreePort(); err != nil {
		return nil, err
	}
	return r, r.Start(ctx)
}

// Start runs those of the two that are not running.
func (r *Replica) Start(ctx context.Context) error {
	if r.Rankward == nil || !r.Rankward.Running() {
		rankward, err := StartRankward(ctx, RankwardOptions{
			Name: "rankward-" + r.Name, Dir: r.cluster.Dir, Certificates: r.certificates, Kubeconfig: r.kubeconfig,
			Configuration: extenderDoor, Settings: r.options.Settings, ExtenderPort: r.extenderPort,
		})
		if err != nil {
			return err
		}
		r.Rankward = rankward
		r.cluster.Adopt(rankward.Process)
	}
	if r.Scheduler != nil && r.Scheduler.Running() {
		return nil
	}
	configuration, err := ExtenderConfiguration(r.root, r.extenderPort, r.certificates)
	if err != nil {
		return err
	}
	scheduler, err := r.cluster.StartScheduler(ctx, SchedulerOptions{
		Name: "kube-scheduler-" + r.Name, Configuration: configuration, Verbosity: r.options.Verbosity,
		KeepLeaderElection: r.options.LeaderElection != nil, LeaderElection: r.options.LeaderElection,
		FeatureGates: r.options.FeatureGates,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	r.Scheduler = scheduler
	return nil
}
