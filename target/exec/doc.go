// Package exec runs commands: the target that works with any program in any
// language, unchanged.
//
// A command is a process group. It is started without a shell, asked to stop
// by SIGTERM to the whole group, and made to by SIGKILL. When it ends, what it
// left running in its group is killed, since an attempt that is over owns
// nothing; what has moved to a session of its own (setsid) is a daemon and no
// longer the attempt's. Its output is kept, bounded, however much there is.
//
// Exit codes are the command's way to answer: 0 done, 75 (EX_TEMPFAIL) try
// again, 65 (EX_DATAERR) trying again cannot help, 79 the outcome is unknown
// and a person must look. Every other code, and death by a signal, is a failure
// that is tried again. A command that ends after it was told to stop has not
// done its work, whatever its code (many programs answer SIGTERM with 0); only
// 65 and 79 are believed then.
//
// A variable that is too large for an environment (Linux takes 128 KiB) is in
// a file instead: DULY_PAYLOAD_FILE then takes the place of DULY_PAYLOAD, and
// DULY_COVERS_FILE that of DULY_COVERS. It is removed when the command has
// ended.
//
// # When the node dies
//
// On Linux the command gets SIGKILL when the node's process dies, even by
// kill -9. That reaches the command, not what the command has started, and not
// a set-user-ID program; macOS and Windows have nothing like it. What is left
// there works on without ownership, and only the fencing token keeps its
// writes out.
//
// On Windows there are no signals: stopping a command ends it at once, and
// what it has started stays.
package exec
