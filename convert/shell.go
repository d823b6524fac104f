package convert

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// deed is what a shell's text seems to be about, for a name. A guess is enough:
// whatever it is, it is the same every time.
type deed struct {
	program   string   // without its path
	script    bool     // it is a script, whose name says it all
	arguments []string // up to three, without options
}

var (
	// prefaces are commands that prepare for the one that matters.
	prefaces = strings.Fields("cd test [ [[ umask export source . set sleep true : mkdir ulimit")
	// wrappers start the command that follows them.
	wrappers = strings.Fields("sudo nice ionice env nohup exec time timeout flock chronic cronic setsid chrt taskset command")

	// interpreters run the script that follows them.
	interpreters = regexp.MustCompile(`^((ba|da|a|k|z)?sh|(python|perl|ruby|php|node|deno|bun|java|Rscript|pwsh)[0-9.]*)$`)
	scriptEnding = regexp.MustCompile(`\.(sh|bash|py|pl|rb|php|js|mjs|ts|jar|R|ps1)$`)
	assignment   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	amount       = regexp.MustCompile(`^[0-9.]+[smhd]?$`)
)

const maxArguments = 3

// telling finds the command that matters in a shell's text.
func telling(text string) deed { return tellingAt(text, 0) }

func tellingAt(text string, depth int) deed {
	commands := splitCommands(text)
	for len(commands) > 1 && slices.Contains(prefaces, commands[0][0]) {
		commands = commands[1:]
	}
	if len(commands) == 0 {
		return deed{}
	}
	words, inner := unwrap(commands[0])
	if inner != "" && depth < 3 {
		return tellingAt(inner, depth+1)
	}
	var d deed
	for _, w := range words {
		name := path.Base(w)
		switch {
		case d.program == "":
			d.program = scriptEnding.ReplaceAllString(name, "")
			d.script = d.program != name
		case !strings.HasPrefix(w, "-") && len(d.arguments) < maxArguments:
			d.arguments = append(d.arguments, name)
		}
	}
	return d
}

// unwrap takes off what only starts another command. Where that is given as a
// shell's text (-c), it returns the text.
func unwrap(words []string) (rest []string, inner string) {
	for len(words) > 1 {
		name := path.Base(words[0])
		isShell := interpreters.MatchString(name)
		switch {
		case assignment.MatchString(words[0]):
			words = words[1:]
			continue
		case !isShell && !slices.Contains(wrappers, name):
			return words, ""
		}
		rest := words[1:]
		for len(rest) > 1 && (strings.HasPrefix(rest[0], "-") || amount.MatchString(rest[0])) {
			option := rest[0]
			rest = rest[1:]
			if option == "-c" && (isShell || name == "flock") {
				return nil, rest[0]
			}
			if name == "sudo" && (option == "-u" || option == "-g") && len(rest) > 1 {
				rest = rest[1:]
			}
		}
		if name == "flock" && len(rest) > 1 { // the file
			rest = rest[1:]
			if rest[0] == "-c" && len(rest) > 1 {
				return nil, rest[1]
			}
		}
		words = rest
		if isShell {
			return words, ""
		}
	}
	return words, ""
}

// splitCommands takes a shell's text apart into its simple commands and their
// words, without redirections. It knows enough of the shell for a name.
func splitCommands(text string) [][]string {
	var commands [][]string
	var words []string
	var b strings.Builder
	inWord, redirected := false, false
	endWord := func() {
		if inWord && !redirected && b.String() != "{" && b.String() != "}" {
			words = append(words, b.String())
		}
		redirected = redirected && !inWord
		b.Reset()
		inWord = false
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words, redirected = nil, false
	}
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case ch == ' ' || ch == '\t':
			endWord()
		case ch == '#' && !inWord:
			endCommand()
			return commands
		case ch == '>' || ch == '<':
			if amount.MatchString(b.String()) {
				inWord = false // 2>
			}
			endWord()
			for i+1 < len(text) && strings.IndexByte("<>&", text[i+1]) >= 0 {
				i++
			}
			redirected = true
		case strings.IndexByte(";|&()\n", ch) >= 0:
			endCommand()
		case ch == '\'' || ch == '"':
			inner, rest, ok := quoted(text[i:])
			if !ok {
				inner, rest = text[i+1:], ""
			}
			b.WriteString(inner)
			i = len(text) - len(rest) - 1
			inWord = true
		case ch == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			inWord = true
		default:
			b.WriteByte(ch)
			inWord = true
		}
	}
	endCommand()
	return commands
}
