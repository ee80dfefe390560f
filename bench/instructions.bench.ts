// Question: how many instructions does the server carry out for one call, beside another build?
// Expectation: no hottest row of a structure takes 3 % more, single calls of the queue none. Instructions are counted by valgrind
// (a Debian package), so that load on the machine changes nothing; few callers stand in line, because waiters of a server that
// is so slow would wait for longer than a moment, and get offers. PERILUNE_BEFORE names the folder of another clone in which
// `npm run build` has run, PERILUNE_CASES some of the cases: `lock,cache`.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../test/servers/ports.ts'
import type { Bench } from './harness/bench.ts'
import { type Built, builtLibrary, libraryIn } from './harness/built.ts'
import { type Case, type Step, wantedCases } from './profile/cases.ts'

/** The difference between the longer and the shorter run is what calls cost, without the start and the first calls. */
const CALLS = { few: 200, many: 1200 }
/** Where calls share what they send, it is chance how many do in each round: what is cheap differs from run to run. */
const CALLS_IN_FLIGHT = { few: 2000, many: 6000 }
/** Of what takes a thousand jobs a call. */
const CALLS_OF_THOUSANDS = { few: 4, many: 12 }

export async function run(bench: Bench): Promise<void> {
  const folder = process.env['PERILUNE_BEFORE']
  if (!folder) return bench.report('instructions', [{ variant: 'not measured', set: 'PERILUNE_BEFORE' }])
  const builds = { before: await libraryIn(folder), now: await builtLibrary() }
  const ratios: Record<string, number> = {}
  for (const [name, each] of wantedCases()) {
    const calls = name === 'queue-worker' ? CALLS_OF_THOUSANDS : each.inFlight > 1 ? CALLS_IN_FLIGHT : CALLS
    const [before, now] = await Promise.all([
      costOf(builds.before, each, calls),
      costOf(builds.now, each, calls),
    ])
    const about = each.inLine === undefined ? each.about : `${each.about} (here ${each.inLine})`
    bench.report(about, [
      { variant: 'before', instructions: before },
      { variant: 'now', instructions: now },
    ])
    ratios[name] = now / before
  }
  bench.judge('instructions of now against before', ratios, { atMost: 1.03 })
}

async function costOf(built: Built, each: Case, { few, many }: typeof CALLS): Promise<number> {
  const shorter = await instructionsOf(built, each, few)
  const longer = await instructionsOf(built, each, many)
  return Math.round((longer - shorter) / (many - few))
}

async function instructionsOf(built: Built, each: Case, calls: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-instructions-'))
  try {
    const out = join(folder, 'counted')
    await countInto(out, (port) => play(built, each, calls, port))
    const counted = /^(?:summary|totals): (\d+)/m.exec(readFileSync(out, 'utf8'))?.[1]
    if (counted === undefined) throw new Error('valgrind counted nothing')
    return Number(counted)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs a server of its own while `work` goes on. */
async function countInto(out: string, work: (port: number) => Promise<void>): Promise<void> {
  const port = await freePort()
  const command = ['redis-server', '--port', String(port), '--save', '', '--appendonly', 'no']
  const quiet = ['--hz', '1', '--activerehashing', 'no']
  const counting = ['--tool=callgrind', `--callgrind-out-file=${out}`, ...command, ...quiet]
  const server = spawn('valgrind', counting, { stdio: 'ignore' })
  // Without valgrind this rejects at once.
  const ended = once(server, 'exit')
  try {
    await Promise.race([work(port), ended.then(() => Promise.reject(new Error('the server has ended')))])
  } finally {
    server.kill('SIGTERM')
    await ended
  }
}

async function play(built: Built, each: Case, calls: number, port: number): Promise<void> {
  const { inLine: atOnce = each.inFlight, prepare } = each
  const client = new Redis(port, { retryStrategy: () => 100, maxRetriesPerRequest: null })
  client.on('error', () => {}) // until it listens
  try {
    await client.ping()
    const redis = built.perilune(built.ioredis(client), { namespace: 'counted', deadline: '60s' })
    const steps = prepare(redis, built)
    for (let call = 0; call < calls; call += atOnce)
      await Promise.all(Array.from({ length: atOnce }, (_, at) => stepAt(steps, call + at)()))
    await redis.close()
  } finally {
    client.disconnect()
  }
}

function stepAt(steps: readonly Step[], at: number): Step {
  const step = steps[at % steps.length]
  if (step === undefined) throw new Error('the case has no steps')
  return step
}
