import type { Check } from '../check.ts'
import { combine, type Finding, ok, overNodes, warn } from '../finding.ts'
import { isReply } from '../link.ts'
import type { Node } from '../node.ts'
import { span } from '../words.ts'

const PINGS = 20
/** Each call of Perilune is at least one round trip. */
const SLOW_MS = 20
const PAUSE_MS = 500
const LONG_FORK_MS = 500

export const latency: Check = {
  id: 'latency',
  title: 'Latency',
  essential: false,
  patience: 2,
  examine: ({ nodes }) => overNodes(nodes, ofNode),
}

async function ofNode(node: Node): Promise<Finding> {
  const times = (await timesOf(node)).toSorted((a, b) => a - b)
  const [median, longest] = [times[Math.floor(times.length / 2)] ?? 0, times.at(-1) ?? 0]
  const forkMs = node.number('latest_fork_usec') / 1000
  const details = { medianMs: round(median), longestMs: round(longest), latestForkMs: round(forkMs) }
  const findings = [ok(quick(median, longest), details)]
  if (median > SLOW_MS) {
    const why = `A round trip takes ${span(median)} (median of ${PINGS}): each call of a program takes at least that.`
    findings.push(warn(why, 'Run programs near the server: the same region, the same zone.'))
  } else if (longest > PAUSE_MS) {
    const why = `One of ${PINGS} round trips took ${span(longest)}: the server or the network pauses.`
    findings.push(warn(why, 'Look for slow commands (SLOWLOG), snapshots, and a loaded machine.'))
  }
  if (forkMs > LONG_FORK_MS) {
    const why = `The last fork for a snapshot stopped the server for ${span(forkMs)}.`
    findings.push(warn(why, 'Turn transparent huge pages off, or use a smaller server for each shard.'))
  }
  return combine(findings, details)
}

/** In classes, so that nodes that do as well say the same. */
function quick(median: number, longest: number): string {
  const [within, worst] = [classOf(median), classOf(longest)]
  return `A round trip takes less than ${within}${worst === within ? '' : `, the longest of ${PINGS} less than ${worst}`}.`
}

function classOf(ms: number): string {
  return `${[1, 2, 5, 10, 20, 50, 100, 200, 500].find((limit) => ms < limit) ?? Math.ceil(ms)} ms`
}

async function timesOf({ link }: Node): Promise<number[]> {
  const times: number[] = []
  for (let number = 0; number < PINGS; number++) {
    const sent = performance.now()
    // A reply that refuses takes as long as any other.
    await link.call('PING').catch((error: unknown) => {
      if (!isReply(error)) throw error
    })
    times.push(performance.now() - sent)
  }
  return times
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
