package convert

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// container converts the first container of a pod, which is the one that
// matters where there is only one.
func (j *cronJob) container(pod *node) {
	list := pod.get("containers").list()
	if len(list) == 0 {
		j.wrong(pod, "has no containers")
		return
	}
	c := list[0]
	for _, other := range list[1:] {
		if j.external() {
			j.say(other, Remark, "the container %s is left as it is; the advice is for the first", other.get("name").string())
		} else {
			j.say(other, Lost, "the container %s: a schedule has one command, and that of the first is taken", other.get("name").string())
		}
	}
	command, args := j.texts(c.entry("command")), j.texts(c.entry("args"))
	if j.through {
		command, args = j.command, nil
	}
	switch {
	case j.broken:
	case j.external() && j.through:
	case j.external():
		j.advise(c, command, args)
	default:
		j.execute(pod, c, command, args)
	}
}

// texts reads a list of texts.
func (j *cronJob) texts(e *nodeEntry) []string {
	if e == nil {
		return nil
	}
	if e.value.kind != kindList {
		j.wrong(e.value, "%s is %v, not a list of texts", e.name, e.value.kind)
	}
	var texts []string
	for _, item := range e.value.list() {
		if item.kind != kindScalar {
			j.wrong(item, "%s holds %v, not a text", e.name, item.kind)
		}
		texts = append(texts, item.text)
	}
	return texts
}

// entryPoint stands for a command that only the image knows.
const entryPoint = "THE-ENTRYPOINT-OF-THE-IMAGE"

// advise says how the container starts its command through Duly.
func (j *cronJob) advise(c *node, command, args []string) {
	if len(command) == 0 {
		j.say(c, Lost, "the container has no command, so that of its image starts; look it up (docker inspect) and put it in the place of %s", entryPoint)
		command = []string{entryPoint}
	}
	all := append([]string{"duly", "exec", j.s.ID, "--"}, append(command, args...)...)
	j.s.Advice = []string{
		"The CronJob keeps the time; let its container " + c.get("name").string() + " start the command through Duly:",
		"  command: " + flowList(all),
	}
	if len(args) > 0 {
		j.s.Advice = append(j.s.Advice, "  args: [] # they are part of the command now")
	}
}

// flowList writes texts as a manifest does, where ${x} is nothing special.
func flowList(texts []string) string {
	items := make([]string, len(texts))
	for i, t := range texts {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(t) // a text always can
		items[i] = strings.TrimSuffix(b.String(), "\n")
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// execute makes an exec target of the container's command.
func (j *cronJob) execute(pod, c *node, command, args []string) {
	image := c.entry("image")
	if len(command) == 0 {
		j.wrong(c, "the container has no command, so that of its image starts, which a manifest does not tell; give the container a command")
		return
	}
	if image != nil {
		j.say(image.key, Lost, "the image %s: the command has to be installed where duly serve runs", image.value.string())
	}
	env := j.environment(c)
	target := &duly.ExecTarget{Dir: c.get("workingDir").string(), Env: env.literal}
	for _, text := range append(command, args...) {
		target.Command = append(target.Command, env.expand(text, func(name string) {
			j.say(c, Lost, "the command uses $(%s), whose value is not in the manifest; it is left as it is", name)
		}))
	}
	if e := pod.entry("terminationGracePeriodSeconds"); e != nil {
		d := j.seconds(e)
		if d < duly.Duration(time.Second) || d > duly.Duration(time.Hour) {
			j.say(e.key, Lost, "terminationGracePeriodSeconds: kill_after is between a moment and an hour")
		} else {
			target.KillAfter = d
		}
	}
	j.leftovers(c, "the container's", "name", "image", "imagePullPolicy", "command", "args", "env", "workingDir", "terminationMessagePath", "terminationMessagePolicy")
	j.s.Target.Exec = target
}

// environment is that of a container.
type environment struct {
	literal map[string]string
	unknown map[string]bool // what comes from elsewhere
}

func (j *cronJob) environment(c *node) environment {
	env := environment{map[string]string{}, map[string]bool{}}
	for _, item := range c.get("env").list() {
		name := item.get("name").string()
		if name == "" || strings.ContainsAny(name, "=\x00") {
			j.wrong(item, "env: %q is not a name", name)
			continue
		}
		if from := item.get("valueFrom"); from != nil {
			env.unknown[name] = true
			delete(env.literal, name)
			j.say(item, Lost, "env %s comes from %s; give it to duly serve and write %[1]s: ${env:%[1]s}", name, origin(from))
			continue
		}
		delete(env.unknown, name)
		env.literal[name] = env.expand(item.get("value").string(), func(other string) {
			j.say(item, Lost, "env %s uses $(%s), whose value is not in the manifest; it is left as it is", name, other)
		})
	}
	return env
}

// origin names where a value comes from: "secretKeyRef db/password".
func origin(from *node) string {
	if len(from.entries) == 0 {
		return "elsewhere"
	}
	source := from.entries[0]
	var parts []string
	for _, key := range []string{"name", "key", "fieldPath", "resource"} {
		if text := source.value.get(key).string(); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.TrimSpace(source.name + " " + strings.Join(parts, "/"))
}

// expand fills in $(NAME) as Kubernetes does: $$ is a dollar sign, and a name
// that is not in the environment stays. unknown is told of those that are in it
// with a value from elsewhere.
func (env environment) expand(text string, unknown func(name string)) string {
	var b strings.Builder
	for rest := text; rest != ""; {
		next := strings.IndexByte(rest, '$')
		if next < 0 || next == len(rest)-1 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:next])
		rest = rest[next:]
		if rest[1] == '$' {
			b.WriteByte('$')
			rest = rest[2:]
			continue
		}
		name, after, closed := strings.Cut(rest[1:], ")")
		if name == "" || name[0] != '(' || !closed {
			b.WriteString(rest[:2])
			rest = rest[2:]
			continue
		}
		name = name[1:]
		value, known := env.literal[name]
		if !known {
			value = rest[:len(rest)-len(after)]
			if env.unknown[name] {
				unknown(name)
			}
		}
		b.WriteString(value)
		rest = after
	}
	return b.String()
}
