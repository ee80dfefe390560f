// npm run profile -- [<case> …] [--list] [--seconds 3] [--out <folder>]
// Runs the hottest row of a bench in a loop, and tells where client and server spend their time. The profile
// opens in Chrome's DevTools, speedscope and similar viewers.

import { mkdirSync, writeFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startRedis } from '../../test/servers/redis.ts'
import { explain, readArguments } from '../../tools/arguments.ts'
import { builtLibrary } from '../harness/built.ts'
import { printTable, type Row } from '../harness/print.ts'
import { measureServer } from '../harness/server-time.ts'
import { CASES, type Case, type Step } from './cases.ts'
import { selfTimes } from './self-times.ts'

const USAGE = 'npm run profile -- [<case> …] [--list] [--seconds 3] [--out <folder>]'
const WARM_MS = 1000
const SHOWN = 25

interface Settings {
  readonly seconds: number
  readonly out: string | undefined
}

async function profile(name: string, { about, prepare }: Case, settings: Settings): Promise<void> {
  const server = await startRedis()
  const [info, connection] = [new Redis(server.port), new Redis(server.port)]
  const built = await builtLibrary()
  const redis = built.perilune(built.ioredis(connection))
  try {
    const steps = prepare(redis, built)
    await loop(steps, WARM_MS)
    await info.config('RESETSTAT')
    const serverTime = await measureServer(info, server.pid)
    const cpu = process.cpuUsage()
    const { calls, recorded } = await record(() => loop(steps, settings.seconds * 1000))
    const { user, system } = process.cpuUsage(cpu)
    const { insideUs, cpuUs } = await serverTime()
    console.log(`\n${name}: ${about}`)
    const perCall = {
      calls,
      clientCpuUs: (user + system) / calls,
      serverCpuUs: cpuUs / calls,
      serverUs: insideUs / calls,
    }
    printTable('a call', [{ variant: name, ...perCall }])
    printTable('client, self time', selfTimes(recorded, calls).slice(0, SHOWN))
    printTable('server, commands', await commandRows(info, calls))
    if (settings.out !== undefined) save(settings.out, name, recorded)
  } finally {
    await redis.close()
    connection.disconnect()
    info.disconnect()
    await server.stop()
  }
}

/** Runs all loops for so long; resolves to the number of calls. */
async function loop(steps: readonly Step[], ms: number): Promise<number> {
  const endsAt = performance.now() + ms
  let calls = 0
  const run = async (step: Step): Promise<void> => {
    while (performance.now() < endsAt) {
      await step()
      calls += 1
    }
  }
  await Promise.all(steps.map(run))
  return calls
}

async function record(work: () => Promise<number>): Promise<{ calls: number; recorded: Profiler.Profile }> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.post('Profiler.start')
  const calls = await work()
  const { profile: recorded } = await session.post('Profiler.stop')
  session.disconnect()
  return { calls, recorded }
}

/** What scripts call counts in both: `evalsha` holds all of them. */
async function commandRows(info: Redis, calls: number): Promise<Row[]> {
  const stats = await info.info('commandstats')
  const found = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)]
  return found
    .map(([, variant = '', count, us]) => ({
      variant,
      commands: Number(count) / calls,
      us: Number(us) / calls,
    }))
    .filter(({ commands }) => commands > 0.001)
    .toSorted((a, b) => b.us - a.us)
}

function save(folder: string, name: string, recorded: Profiler.Profile): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.cpuprofile`), JSON.stringify(recorded))
}

const { values, positionals } = readArguments(USAGE, {
  options: {
    list: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '3' },
    out: { type: 'string' },
  },
  allowPositionals: true,
})
const seconds = Number(values.seconds)
if (!(seconds > 0)) explain(USAGE, `--seconds must be a number above 0, not '${values.seconds}'`)
const names = positionals.length > 0 ? positionals : Object.keys(CASES)
const unknown = names.filter((name) => CASES[name] === undefined)
if (values.list) {
  for (const [name, { about }] of Object.entries(CASES)) console.log(`${name.padEnd(12)} ${about}`)
} else if (unknown.length > 0) {
  console.error(`no such case: ${unknown.join(', ')}; there are: ${Object.keys(CASES).join(', ')}`)
  process.exitCode = 1
} else {
  for (const name of names) {
    await profile(name, CASES[name] as Case, { seconds, out: values.out })
  }
}
