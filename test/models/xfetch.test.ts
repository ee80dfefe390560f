// Whether `early: 'xfetch'` is the algorithm that it is called after: Vattani, Chierichetti and Lowenstein, "Optimal
// Probabilistic Cache Stampede Prevention", VLDB 8(8), 2015, pages 886 to 897. The library's own decision is asked, on
// a value that its own script has stored, by readers who come at random; time is counted, not waited for.
//
// What must come out. Readers come as a Poisson process with the rate r, a load takes d, beta is b. Who reads when s is
// left draws an exponential variable with the mean b d, and loads if it is greater than s: with the probability
// exp(-s / (b d)). So the loads that are begun until s is left are a Poisson process too, of which there are on average
//
//   A(s) = integral over all u > s of r exp(-u / (b d)) du = r b d exp(-s / (b d)).
//
// The first one begins when A(s) reaches an exponential variable E with the mean 1, that is with
//
//   s = b d (ln(r b d) - ln E)    left, on average b d (ln(r b d) + 0.5772), with the deviation b d pi / sqrt(6),
//
// for the mean of -ln E is Euler's constant. Until its value is there, d later, others load too, because no loader is
// elected here: A has grown from E to E exp(1 / b). That makes 1 + E (exp(1 / b) - 1) loads, on average exp(1 / b);
// with g = exp(1 / b) - 1 the variance is g, of the Poisson process, and g squared, of E.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Envelope, judge } from '../../src/cache/envelope.ts'
import { type CacheTerms, toTerms } from '../../src/cache/options.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { LONG, SEED, tell } from '../proof.ts'
import { seeded } from '../soak/random.ts'

const CYCLES = LONG ? 20_000 : 2000
const LOAD_MS = 200
const PER_MS = 1
const FRESH_MS = 60_000
/** How much a mean of so many cycles may differ, in its standard errors: one run in 16,000 differs more. */
const TOLERANCE = 4
const EULER = 0.5772

/** A value whose load took `LOAD_MS`, as it is read. */
async function stored(): Promise<Envelope> {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  onTestFinished(async () => {
    await driver.close()
    client.disconnect()
  })
  const [contract, vectors] = [readContract(), readVectors('cache')]
  const prefix = `xfetch:{cache:${randomUUID()}}:`
  const run = (name: string, args: Arguments): Promise<unknown[]> =>
    runOperation(driver, contract, name, prefix, argumentsOf(vectors, name, args))
  const [, token] = await run('cache/elect', {})
  await run('cache/store', { token, load_ms: LOAD_MS, ttl_ms: FRESH_MS, stale_while_revalidate_ms: 0 })
  return new Envelope((await client.getBuffer(`${prefix}value`)) ?? Buffer.alloc(0))
}

/** How much was left when the first load of a cycle began, and how many began until its value was there. */
function cycle(
  envelope: Envelope,
  terms: CacheTerms,
  random: () => number,
): { gapMs: number; loads: number } {
  const endsMs = envelope.freshUntilMs
  // Earlier than this one cycle in 8,000 loads.
  let nowMs = endsMs - terms.beta * LOAD_MS * (Math.log(PER_MS * terms.beta * LOAD_MS) + 9)
  const next = (): number => (nowMs += -Math.log(1 - random()) / PER_MS)
  while (judge(envelope, terms, next()) === 'fresh');
  const gapMs = endsMs - nowMs
  const thereMs = nowMs + LOAD_MS
  let loads = 1
  while (next() < thereMs) loads += Number(judge(envelope, terms, nowMs) !== 'fresh')
  return { gapMs, loads }
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length
}

test.each([0.5, 1, 2])(
  'by beta %s the first load begins as early, and as many begin in a cycle, as theory predicts',
  { timeout: 3_600_000 },
  async (beta) => {
    const terms = toTerms({ ttl: `${FRESH_MS}ms`, early: 'xfetch', beta })
    const envelope = await stored()
    const random = seeded(SEED)
    // A spy would remember each of very many draws.
    const { random: own } = Math
    Math.random = random
    onTestFinished(() => void (Math.random = own))

    const cycles: ReturnType<typeof cycle>[] = []
    while (cycles.length < CYCLES) {
      cycles.push(cycle(envelope, terms, random))
      // The test runner takes a silent test for dead.
      if (cycles.length % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }

    const [gapMs, loads] = [
      meanOf(cycles.map((each) => each.gapMs)),
      meanOf(cycles.map((each) => each.loads)),
    ]
    const meanMs = beta * LOAD_MS
    const expected = { gapMs: meanMs * (Math.log(PER_MS * meanMs) + EULER), loads: Math.exp(1 / beta) }
    const more = expected.loads - 1
    const error = {
      gapMs: (meanMs * Math.PI) / Math.sqrt(6 * CYCLES),
      loads: Math.sqrt((more + more ** 2) / CYCLES),
    }
    expect(Math.abs(gapMs - expected.gapMs) / error.gapMs, `a gap of ${gapMs} ms`).toBeLessThan(TOLERANCE)
    expect(Math.abs(loads - expected.loads) / error.loads, `${loads} loads a cycle`).toBeLessThan(TOLERANCE)
    const found = `${loads.toFixed(3)} loads a cycle of ${expected.loads.toFixed(3)} expected`
    const ahead = `${gapMs.toFixed(1)} ms ahead of ${expected.gapMs.toFixed(1)}`
    tell(
      `cache: xfetch by beta ${beta}, ${CYCLES} cycles: ${found}, ${ahead}, within ${TOLERANCE} standard errors`,
    )
  },
)
