// Question: is this build slower than another one?
// Expectation: no hottest row of a structure is. PERILUNE_BEFORE names the folder of another clone in which `npm run build`
// has run; both builds work in one process, on one server, in turn. PERILUNE_CASES names some of the cases: `lock,cache`.

import { Redis } from 'ioredis'
import type { Bench, Measured, Variant } from './harness/bench.ts'
import { type Built, builtLibrary, libraryIn } from './harness/built.ts'
import { firstLine } from './harness/first-line.ts'
import type { Row } from './harness/print.ts'
import { type Case, wantedCases } from './profile/cases.ts'

const BEFORE = 'before'
const NOW = 'now'
const ROUNDS = 31
const CALLS = 400
const MOST_CALLS = 10_000

export async function run(bench: Bench): Promise<void> {
  const folder = process.env['PERILUNE_BEFORE']
  if (!folder) return bench.report('builds', [{ variant: 'not measured', set: 'PERILUNE_BEFORE' }])
  const now = await builtLibrary()
  const before = await libraryIn(folder)
  const ratios: Row[] = []
  for (const [name, each] of wantedCases()) {
    const measured = await compareOne(bench, each, before, now)
    if (measured !== null) ratios.push(toRow(name, measured))
  }
  bench.report('now against before', ratios)
}

/** Null when one of them does not know what the case asks for. */
async function compareOne(
  bench: Bench,
  { about, inFlight, prepare }: Case,
  before: Built,
  now: Built,
): Promise<ReadonlyMap<string, Measured> | null> {
  const opened: (() => Promise<void>)[] = []
  const open = async (built: Built, namespace: string): Promise<Variant> => {
    const client = new Redis(bench.port)
    const redis = built.perilune(built.ioredis(client), { namespace })
    opened.push(async () => {
      await redis.close()
      client.disconnect()
    })
    const steps = prepare(redis, built)
    let turn = 0
    const call: Variant = () => steps[turn++ % steps.length]?.() ?? Promise.resolve()
    await call()
    return call
  }
  try {
    const variants = { [BEFORE]: await open(before, BEFORE), [NOW]: await open(now, NOW) }
    const perRound = Math.min(MOST_CALLS, inFlight * CALLS)
    return await bench.compare(about, variants, { rounds: ROUNDS, perRound, inFlight })
  } catch (error) {
    bench.report(about, [{ variant: 'not measured', why: firstLine(error) }])
    return null
  } finally {
    for (const close of opened) await close()
  }
}

function toRow(variant: string, measured: ReadonlyMap<string, Measured>): Row {
  const ratio = (key: keyof Measured): number =>
    (measured.get(NOW)?.[key] ?? Number.NaN) / (measured.get(BEFORE)?.[key] ?? Number.NaN)
  return {
    variant,
    callsPerSecond: ratio('callsPerSecond'),
    serverUs: ratio('serverUs'),
    serverCpuUs: ratio('serverCpuUs'),
    clientCpuUs: ratio('clientCpuUs'),
  }
}
