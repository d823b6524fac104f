package convert

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// job converts the job template.
func (j *cronJob) job(job *node) {
	attempts := 7 // the default backoffLimit is 6
	if e := job.entry("backoffLimit"); e != nil {
		attempts = int(min(j.integer(e), 9_999)) + 1
	}
	j.s.Retry.MaxAttempts = attempts

	pod := job.get("template", "spec")
	if pod == nil {
		j.wrong(job, "has no template.spec")
		return
	}
	whole, single := job.entry("activeDeadlineSeconds"), pod.entry("activeDeadlineSeconds")
	switch {
	case single != nil:
		j.s.Timeout = j.seconds(single)
		if whole != nil {
			j.say(whole.key, Lost, "activeDeadlineSeconds for all attempts together: Duly has a timeout for each, which is the pod's")
		}
	case whole != nil:
		j.s.Timeout = j.seconds(whole)
		if attempts > 1 {
			j.say(whole.key, Changed, "activeDeadlineSeconds counts for all attempts together; timeout counts for each")
		}
	}
	for _, key := range []string{"parallelism", "completions"} {
		e := job.entry(key)
		if e == nil || j.integer(e) <= 1 {
			continue
		}
		if j.external() {
			j.say(e.key, Lost, "%s: of the pods of a Job only one gets to run the command, as all are for the same occurrence", key)
		} else {
			j.say(e.key, Lost, "%s: an occurrence is one command; divide the work into schedules, or within the command", key)
		}
	}
	if !j.external() {
		j.leftovers(job, "the Job's", "template", "backoffLimit", "activeDeadlineSeconds", "parallelism", "completions")
		j.leftovers(pod, "the pod's", "containers", "restartPolicy", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
	}
	j.container(pod)
}

// usual values say nothing: the API server fills them in.
var usual = map[string]string{
	"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "enableServiceLinks": "true",
	"completionMode": "NonIndexed", "podReplacementPolicy": "TerminatingOrFailed", "suspend": "false", "manualSelector": "false",
}

// leftovers lists the keys that have no counterpart.
func (j *cronJob) leftovers(n *node, whose string, handled ...string) {
	for _, e := range n.entries {
		empty := e.value.kind == kindNull || e.value.kind == kindMapping && len(e.value.entries) == 0
		if empty || slices.Contains(handled, e.name) || usual[e.name] != "" && usual[e.name] == e.value.string() {
			continue
		}
		j.say(e.key, Lost, "%s %s: there is no counterpart", whose, e.name)
	}
}

// longest is the longest deadline or timeout that a schedule may have.
const longest = duly.Duration(366 * 24 * time.Hour)

func (j *cronJob) seconds(e *nodeEntry) duly.Duration {
	n := j.integer(e)
	if n > int64(longest.Std()/time.Second) {
		j.say(e.key, Changed, "%s: more than a year is as good as a year", e.name)
		return longest
	}
	return duly.Duration(n) * duly.Duration(time.Second)
}

// integer reads a count. Kubernetes has no negative ones.
func (j *cronJob) integer(e *nodeEntry) int64 {
	n, err := strconv.ParseInt(e.value.string(), 10, 64)
	if err != nil || n < 0 || e.value.quoted {
		j.wrong(e.value, "%s is not a whole number of 0 or more", e.name)
		return 0
	}
	return n
}

// isTrue reads a boolean as YAML 1.1 does, which Kubernetes' reader follows.
func isTrue(n *node) bool {
	return !n.quoted && slices.Contains([]string{"true", "yes", "on", "y"}, strings.ToLower(n.string()))
}
