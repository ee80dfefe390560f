// Started by npm, a process has no reason to outlive it. npm passes on the signals that it gets, but can say nothing when it
// is killed, or when a shell stands between that passes nothing on.

const LOOK_MS = 200

/** Ends this process in good order once the process that started it is gone, if that was npm or its shell. */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
}
