// The clocks of the servers, against each other and against the steady clock of this process.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../check.ts'
import { combine, fail, type Finding, ok, unknown, warn } from '../finding.ts'
import { isReply } from '../link.ts'
import type { Node } from '../node.ts'
import { span } from '../words.ts'

const SAMPLES = 10
const PAUSE_MS = 100
/** What a busy machine may add to an answer, beyond its round trip. */
const TOLERANCE_MS = 50
const APART_MS = 250
const FAR_APART_MS = 10_000
const JUMP_FAILS_MS = 1000

const NTP = 'Run NTP (chrony) on every node, and let it slew the clock, not step it.'

/** How far the server is ahead of the steady clock of this process; right within the half of the round trip. */
interface Sample {
  readonly aheadMs: number
  readonly withinMs: number
}

export const clock: Check = {
  id: 'clock',
  title: 'Clock',
  essential: true,
  patience: 2,
  async examine({ nodes }) {
    const series = await Promise.all(nodes.map(async (node) => ({ node, samples: await samplesOf(node) })))
    const known = series.filter(({ samples }) => samples.length > 1)
    if (known.length === 0) return unknown('The user may not run TIME.', 'Grant +time.')
    const jumps = known.flatMap(({ node, samples }) => jumpOf(node, samples))
    const details = Object.fromEntries(known.map(({ node, samples }) => [node.name, aheadOfHere(samples)]))
    return combine([steady(known.length), ...jumps, ...apart(known)], { aheadOfThisMachineMs: details })
  },
}

function steady(servers: number): Finding {
  if (servers === 1) return ok('The clock of the server ran steadily for a second.')
  return ok(`The clocks of ${servers} servers agree, and ran steadily for a second.`)
}

async function samplesOf(node: Node): Promise<Sample[]> {
  const samples: Sample[] = []
  try {
    for (let number = 0; number < SAMPLES; number++) {
      if (number > 0) await sleep(PAUSE_MS)
      samples.push(await sampleOf(node))
    }
  } catch (error) {
    if (!isReply(error)) throw error
  }
  return samples
}

async function sampleOf({ link }: Node): Promise<Sample> {
  const sent = performance.now()
  const [seconds, micros] = (await link.call('TIME')) as readonly unknown[]
  const received = performance.now()
  const serverMs = Number(seconds) * 1000 + Number(micros) / 1000
  return { aheadMs: serverMs - (sent + received) / 2, withinMs: (received - sent) / 2 }
}

function jumpOf(node: Node, samples: readonly Sample[]): Finding[] {
  const steps = samples.slice(1).map((sample, at) => {
    const before = samples[at] ?? sample
    const step = sample.aheadMs - before.aheadMs
    return Math.abs(step) > before.withinMs + sample.withinMs + TOLERANCE_MS ? step : 0
  })
  const widest = steps.reduce((most, step) => (Math.abs(step) > Math.abs(most) ? step : most), 0)
  if (widest === 0) return []
  const way = widest > 0 ? 'forward: leases end early' : 'back: leases, delays and expiry are late'
  const why = `The clock of ${node.name} jumped by ${span(Math.abs(widest))} ${way}.`
  const details = { jumpMs: { [node.name]: Math.round(widest) } }
  return [Math.abs(widest) >= JUMP_FAILS_MS ? fail(why, NTP, details) : warn(why, NTP, details)]
}

function apart(series: readonly { node: Node; samples: readonly Sample[] }[]): Finding[] {
  const clocks = series
    .map(({ node, samples }) => ({ name: node.name, ...closest(samples) }))
    .toSorted((a, b) => a.aheadMs - b.aheadMs)
  const [first, last] = [clocks[0], clocks.at(-1)]
  if (first === undefined || last === undefined) return []
  const difference = last.aheadMs - first.aheadMs
  if (difference <= APART_MS + first.withinMs + last.withinMs) return []
  const why = `The clock of ${first.name} is ${span(difference)} behind that of ${last.name}: a failover to it makes leases, delays and expiry late by as much.`
  const details = { apartMs: Math.round(difference) }
  return [difference >= FAR_APART_MS ? fail(why, NTP, details) : warn(why, NTP, details)]
}

function closest(samples: readonly Sample[]): Sample {
  return samples.reduce((best, sample) => (sample.withinMs < best.withinMs ? sample : best))
}

/** The clock of this machine does not matter to Perilune; a user may want to know. */
function aheadOfHere(samples: readonly Sample[]): number {
  return Math.round(closest(samples).aheadMs - (Date.now() - performance.now()))
}
