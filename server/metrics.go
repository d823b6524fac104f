package server

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
)

// counts are what this server did for workers, which its node knows nothing of.
type counts struct {
	duplicates atomic.Int64 // triggers answered with what existed
	stale      atomic.Int64
	late       atomic.Int64
	outcomes   [8]atomic.Int64 // in the order of duly.Outcomes
	lateness   [len(node.LatenessBuckets) + 1]atomic.Int64
	lateSum    atomic.Int64
}

func (c *counts) finished(outcome duly.Outcome, late bool) {
	for i, o := range duly.Outcomes {
		if o == outcome {
			c.outcomes[i].Add(1)
		}
	}
	if late {
		c.late.Add(1)
	}
}

func (c *counts) started(late time.Duration) {
	late = max(late, 0)
	c.lateSum.Add(int64(late))
	for i, bound := range node.LatenessBuckets {
		if late <= bound {
			c.lateness[i].Add(1)
			return
		}
	}
	c.lateness[len(node.LatenessBuckets)].Add(1)
}

func (s *Server) metrics() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newCollector(s),
	)
	return reg
}

// collector reads the store's and the node's counters when it is scraped.
type collector struct {
	server *Server

	build, up                                   *prometheus.Desc
	occurrences, skipped                        *prometheus.Desc
	schedules, paused, nodes                    *prometheus.Desc
	pending, running, attention                 *prometheus.Desc
	attempts, lateness, stale, late, duplicates *prometheus.Desc
	abandoned, renewFailures, nodeRunning, held *prometheus.Desc
	streams                                     *prometheus.Desc
}

func newCollector(s *Server) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("duly_"+name, help, labels, nil)
	}
	return &collector{
		server:      s,
		build:       desc("build_info", "1, with the version of this program.", "version", "go"),
		up:          desc("store_up", "1 if the store answered this scrape."),
		occurrences: desc("occurrences_total", "Occurrences by the state that they are in or ended in, since the store was made.", "state"),
		skipped:     desc("skipped_total", "Periods that were not run (skipped or missed), by schedule and reason.", "schedule", "reason"),
		schedules:   desc("schedules", "Schedules."),
		paused:      desc("schedules_paused", "Schedules that are paused."),
		nodes:       desc("nodes", "Live nodes."),
		pending:     desc("pending", "Occurrences that wait."),
		running:     desc("running", "Occurrences that an attempt owns."),
		attention:   desc("attention", "Occurrences that are failed, uncertain or missed and that nobody has dealt with."),

		attempts:      desc("attempts_total", "Attempts that ended, by outcome, as reported to this process.", "outcome"),
		lateness:      desc("start_lateness_seconds", "From due to the start of an attempt, of attempts that this process started or handed out."),
		stale:         desc("reports_stale_total", "Reports that were refused because a newer attempt owned the occurrence."),
		late:          desc("reports_late_total", "Reports that were accepted after the lease had run out."),
		duplicates:    desc("trigger_duplicates_total", "Triggers that were answered with an occurrence that existed."),
		abandoned:     desc("handlers_abandoned_total", "Handlers that ignored their cancellation."),
		renewFailures: desc("renew_failures_total", "Renewals of leases that the store did not answer in time."),
		nodeRunning:   desc("node_running", "Attempts that this process works on."),
		held:          desc("node_reports_held", "Reports of this process that wait for the store."),
		streams:       desc("event_streams", "Event streams that this process keeps open."),
	}
}

// Describe implements prometheus.Collector. It says nothing, as what there is
// depends on whether the store answers.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	put := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	s := c.server
	put(c.build, gauge, 1, s.version, runtime.Version())
	put(c.streams, gauge, float64(len(s.streams)))
	c.collectStore(put)

	var n node.Counts
	if s.node != nil {
		n = s.node.Counts()
		put(c.abandoned, counter, float64(n.Abandoned))
		put(c.renewFailures, counter, float64(n.RenewFailures))
		put(c.nodeRunning, gauge, float64(n.Running))
		put(c.held, gauge, float64(n.Held))
	}
	for i, o := range duly.Outcomes {
		put(c.attempts, counter, float64(n.Outcomes[o]+s.counts.outcomes[i].Load()), string(o))
	}
	put(c.attempts, counter, float64(n.Lost), string(duly.AttemptLost))
	put(c.stale, counter, float64(n.Stale+s.counts.stale.Load()))
	put(c.late, counter, float64(n.Late+s.counts.late.Load()))
	put(c.duplicates, counter, float64(s.counts.duplicates.Load()))
	ch <- c.histogram(n)
}

// collectStore asks the store once. Where it does not answer, its figures are
// left out, so that nothing looks like zero.
func (c *collector) collectStore(put func(*prometheus.Desc, prometheus.ValueType, float64, ...string)) {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	stats, err := c.server.store.Stats(ctx)
	if err != nil {
		put(c.up, gauge, 0)
		return
	}
	put(c.up, gauge, 1)
	for _, state := range duly.States {
		put(c.occurrences, counter, float64(stats.Occurrences[state]), string(state))
	}
	for _, skip := range stats.Skips {
		put(c.skipped, counter, float64(skip.Count), skip.Schedule, skip.Reason)
	}
	put(c.schedules, gauge, float64(stats.Schedules))
	put(c.paused, gauge, float64(stats.Paused))
	put(c.nodes, gauge, float64(stats.Nodes))
	put(c.pending, gauge, float64(stats.Pending))
	put(c.running, gauge, float64(stats.Running))
	put(c.attention, gauge, float64(stats.Attention))
}

func (c *collector) histogram(n node.Counts) prometheus.Metric {
	counts := &c.server.counts
	buckets := map[float64]uint64{}
	total := int64(0)
	var cumulated uint64
	for i := range counts.lateness {
		total += counts.lateness[i].Load()
		bound := math.Inf(1)
		if i < len(node.LatenessBuckets) {
			bound = node.LatenessBuckets[i].Seconds()
		}
		cumulated = uint64(total + n.Lateness[i])
		if !math.IsInf(bound, 1) {
			buckets[bound] = cumulated
		}
	}
	sum := n.LatenessSum + time.Duration(counts.lateSum.Load())
	return prometheus.MustNewConstHistogram(c.lateness, cumulated, sum.Seconds(), buckets)
}
