// Package convert turns the schedules of other schedulers into Duly's.
//
// [Crontab] reads crontabs, [Kubernetes] reads CronJob manifests. Both return a
// [Result]: schedules, ready to be printed as a duly.yaml, and notes that say
// what is wrong with the source, what could not be carried over and what is
// written in another way, each with file, line and column.
//
// Two rules hold for every conversion:
//
//   - A schedule is due when its source was. Where the source's dialect differs
//     from Duly's, it is written so that it means the same, and a note says so.
//     Where that is impossible, a note says what differs.
//   - What cannot be understood is reported and left out, and the rest is still
//     converted. Nothing is left out silently, and what comes out loads: a
//     schedule that package timing refuses becomes a note.
//
// What may not live here: reading files or the environment, and any knowledge
// of stores. The machine on which a conversion runs says nothing about the one
// that the source was written for.
package convert
