// Loaded into the process of the service before it starts: tells its parent what it was like since it was last asked.

import { monitorEventLoopDelay } from 'node:perf_hooks'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let cpu = process.cpuUsage()
let [gapMs, rssBytes] = [0, 0]

// The processor time of one gap: what other processes of the machine take does not count.
function sampleGap() {
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  gapMs = Math.max(gapMs, (user + system) / 1000)
}
if (process.env.PROBE_GAPS !== 'no') setInterval(sampleGap, 1).unref()
setInterval(() => {
  rssBytes = Math.max(rssBytes, process.memoryUsage.rss())
}, 5).unref()

process.on('message', () => {
  process.send?.({ delayMs: delay.max / 1e6, gapMs, rssBytes: Math.max(rssBytes, process.memoryUsage.rss()) })
  delay.reset()
  ;[gapMs, rssBytes] = [0, 0]
})
