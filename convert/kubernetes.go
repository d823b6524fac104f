package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
)

// KubernetesOptions say what a manifest itself does not.
type KubernetesOptions struct {
	// Mode is ModeExternal by default: the CronJob stays, and its container
	// starts the command through `duly exec`.
	Mode Mode
	// Zone is the time zone of the cluster's controllers, which counts where a
	// CronJob has no timeZone. Default UTC.
	Zone string
	// Namespace is that of CronJobs that name none. Empty: their schedules have
	// the CronJob's name alone.
	Namespace string
}

// Kubernetes converts CronJobs of batch/v1 and batch/v1beta1, in YAML or JSON,
// one or several documents to a file, and lists of them. The ID of a schedule
// is namespace/name.
func Kubernetes(sources []Source, opt KubernetesOptions) *Result {
	k := &kubernetesConverter{Result: &Result{origin: "k8s"}, opt: opt, zones: newZones(), met: map[string]place{}}
	if k.opt.Zone == "" {
		k.opt.Zone = "UTC"
	}
	for _, src := range sources {
		if len(src.Data) > maxSource {
			k.note(place{src.Name, 1, 1}, Wrong, "is longer than %d MiB", maxSource>>20)
			continue
		}
		for _, d := range documents(src) {
			n, fault := d.parse()
			if fault != nil {
				k.Notes = append(k.Notes, *fault)
			} else if n != nil && n.kind != kindNull {
				k.object(n, "")
			}
		}
	}
	k.sort(sources)
	return k.Result
}

type kubernetesConverter struct {
	*Result
	opt   KubernetesOptions
	zones *zones
	met   map[string]place // the IDs so far
}

// object converts a manifest or a list of them. Items of a CronJobList need no
// kind of their own.
func (k *kubernetesConverter) object(n *node, kind string) {
	if own := n.get("kind").string(); own != "" {
		kind = own
	}
	switch {
	case n.kind != kindMapping || kind == "":
		k.note(n.place, Wrong, "is not a Kubernetes manifest: it has no kind")
	case kind == "List" || kind == "CronJobList":
		for _, item := range n.get("items").list() {
			k.object(item, strings.TrimSuffix(kind, "List"))
		}
	case kind != "CronJob":
		k.note(n.place, Remark, "%s %s is no CronJob and is left alone", kind, n.get("metadata", "name").string())
	default:
		j := &cronJob{kubernetesConverter: k, node: n, spec: n.get("spec")}
		j.convert()
	}
}

// cronJob is one while it is converted.
type cronJob struct {
	*kubernetesConverter
	*node
	spec   *node
	s      Schedule
	notes  []Note
	broken bool

	wrapped
	through bool // the command goes through duly exec already
}

// wrong notes a fault and keeps the CronJob from being converted.
func (j *cronJob) wrong(at *node, format string, args ...any) {
	j.broken = true
	p := j.place
	if at != nil {
		p = at.place
	}
	j.kubernetesConverter.note(p, Wrong, format, args...)
}

func (j *cronJob) say(at *node, kind Kind, format string, args ...any) {
	j.notes = append(j.notes, at.note(kind, format, args...))
}

func (j *cronJob) external() bool { return j.opt.Mode != ModeExec }

func (j *cronJob) convert() {
	if j.identify(); j.broken {
		return
	}
	if j.unwrap(); j.broken {
		return
	}
	if job := j.spec.get("jobTemplate", "spec"); job == nil {
		j.wrong(j.spec, "has no jobTemplate.spec")
	} else {
		j.timing()
		j.policies()
		j.job(job)
		j.wrapped.into(&j.s.Schedule)
	}
	if j.broken {
		return
	}
	j.add(j.place, j.s, j.notes)
}

// versions of CronJob that differ in nothing that matters here.
var versions = []string{"batch/v1", "batch/v1beta1"}

func (j *cronJob) identify() {
	if v := j.get("apiVersion"); v != nil && !slices.Contains(versions, v.string()) {
		j.wrong(v, "apiVersion %s is not one of %s", v.string(), strings.Join(versions, ", "))
	}
	if j.spec == nil {
		j.wrong(j.node, "has no spec")
	}
	name := j.get("metadata", "name").string()
	if name == "" {
		j.wrong(j.get("metadata"), "has no metadata.name, which becomes the schedule's ID")
		return
	}
	namespace := j.get("metadata", "namespace").string()
	if namespace == "" {
		namespace = j.opt.Namespace
	}
	j.s.ID = name
	if namespace != "" {
		j.s.ID = namespace + "/" + name
	}
	j.s.Description = j.get("metadata", "annotations", "kubernetes.io/description").string()
}

// unwrap looks for duly exec in the command of the first container, and takes
// the ID from there.
func (j *cronJob) unwrap() {
	if c := j.firstContainer(); c != nil {
		var words []string
		for _, item := range append(c.get("command").list(), c.get("args").list()...) {
			words = append(words, item.string())
		}
		j.wrapped, j.through = unwrapCommand(words)
		if j.through {
			j.s.ID = j.id
			j.say(c, Remark, "the command goes through duly exec already; the schedule keeps its ID and its periods")
		} else if !j.external() && isNested(strings.Join(words, " ")) {
			j.say(c, Lost, "%s", nested)
		}
	}
	if first, twice := j.met[j.s.ID]; twice {
		j.wrong(j.node, "%s is defined twice; the first is %s:%d", j.s.ID, first.file, first.line)
		return
	}
	j.met[j.s.ID] = j.place
}

func (j *cronJob) firstContainer() *node {
	list := j.spec.get("jobTemplate", "spec", "template", "spec", "containers").list()
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// timing converts schedule and timeZone. An external schedule keeps the zone,
// which names its periods.
func (j *cronJob) timing() {
	at := j.spec.get("schedule")
	if at.string() == "" {
		j.wrong(j.spec, "has no schedule")
		return
	}
	expr, zone, zoneAt := at.string(), j.opt.Zone, at
	if prefix, rest, found := strings.Cut(expr, " "); found && (strings.HasPrefix(prefix, "TZ=") || strings.HasPrefix(prefix, "CRON_TZ=")) {
		_, zone, _ = strings.Cut(prefix, "=")
		expr = rest
		j.say(at, Changed, "the zone in the schedule, which Kubernetes refuses since 1.29, is taken for the timezone")
	} else if tz := j.spec.get("timeZone"); tz != nil {
		zone, zoneAt = tz.string(), tz
	} else if !j.external() {
		j.say(at, Remark, "without a timeZone, the zone of the cluster's controllers counts, which is taken to be %s; --tz names another", zone)
	}
	if _, err := cron.LoadZone(zone); err != nil {
		j.wrong(zoneAt, "%q is not a time zone", zone)
		return
	}
	j.s.Timezone = unlessUTC(zone)
	t, unit, fault := j.read(expr, zone)
	if fault != nil {
		p := *at
		p.col += len(at.text) - len(expr) + fault.offset
		if at.quoted {
			p.col++
		}
		j.wrong(&p, "schedule %q: %s", at.text, fault.text)
		return
	}
	if !j.external() {
		t.into(&j.s.Schedule)
		for _, text := range t.notes {
			j.say(at, Changed, "%s", text)
		}
		return
	}
	j.s.External, j.s.Period = true, unit
	if tz := j.flags["tz"]; tz != "" {
		j.s.Timezone = unlessUTC(tz)
	}
	if unit == duly.PeriodInstant && !j.through {
		j.say(at, Remark, "it may be due more than once an hour, so each start has to say for which time it is: duly exec --due; docs/kubernetes.md shows how to take that from the Job's name")
	}
}

// read reads a schedule's expression.
func (j *cronJob) read(expr, zone string) (t timings, unit duly.PeriodUnit, fault *fieldError) {
	if strings.HasPrefix(strings.TrimSpace(expr), "@every") {
		d, err := cron.ParseEvery(expr)
		if err != nil {
			return t, "", &fieldError{0, err.Error()}
		}
		t.all = []duly.Timing{{Every: duly.Duration(d)}}
		t.notes = []string{"the interval counts from when Duly first meets the schedule; anchor sets it"}
		return t, duly.PeriodInstant, nil
	}
	rest := word{text: expr}
	var words []word
	for w := nextWord(&rest); w.text != ""; w = nextWord(&rest) {
		words = append(words, w)
	}
	macro := ""
	if len(words) == 1 && words[0].text[0] == '@' {
		macro = words[0].text
		if macros[macro] == "" {
			return t, "", &fieldError{0, "is not one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, @every"}
		}
		rest, words = word{text: macros[macro]}, nil
		for range fields {
			words = append(words, nextWord(&rest))
		}
	}
	if len(words) != len(fields) {
		return t, "", &fieldError{0, fmt.Sprintf("has %d fields; Kubernetes takes five: minute, hour, day-of-month, month, day-of-week", len(words))}
	}
	c, fault := kubernetes.parseClock(words)
	if fault != nil {
		return t, "", fault
	}
	t = c.kubernetes(j.zones.changes(zone))
	if macro != "" {
		t.all = []duly.Timing{{Cron: macro}}
	}
	return t, c.unit(), nil
}

var overlaps = map[string]duly.Overlap{
	"": duly.OverlapAllow, "Allow": duly.OverlapAllow, "Forbid": duly.OverlapSkip, "Replace": duly.OverlapReplace,
}

// policies converts what stands beside the schedule.
func (j *cronJob) policies() {
	policy := j.spec.get("concurrencyPolicy")
	overlap, ok := overlaps[policy.string()]
	if !ok || policy != nil && policy.kind != kindScalar {
		j.wrong(policy, "concurrencyPolicy %q is not one of Allow, Forbid, Replace", policy.string())
	}
	j.s.Overlap = overlap

	if e := j.spec.entry("startingDeadlineSeconds"); e != nil {
		if j.external() {
			j.say(e.key, Remark, "startingDeadlineSeconds stays with the CronJob: it decides whether a Job is created, and says nothing of how soon its pod starts")
		} else if d := j.seconds(e); d > 0 {
			j.s.StartDeadline = d
		} else {
			j.say(e.key, Lost, "startingDeadlineSeconds: a deadline of nothing would let nothing start")
		}
	}
	if e := j.spec.entry("suspend"); e != nil && isTrue(e.value) {
		j.say(e.key, Lost, "suspend: a pause is a state, no definition; after duly apply: duly schedules pause %s --why 'was suspended'", j.s.ID)
	}
	if j.external() {
		return
	}
	for _, key := range []string{"successfulJobsHistoryLimit", "failedJobsHistoryLimit"} {
		if e := j.spec.entry(key); e != nil {
			j.say(e.key, Lost, "%s: how long history is kept is not up to a schedule", key)
		}
	}
}
