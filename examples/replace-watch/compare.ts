// Completes names with WATCH and by a script, shows that both find the same, and measures both:
//   npx tsx examples/replace-watch/compare.ts      (a second for each number)
//   npx tsx examples/replace-watch/compare.ts 5    (five seconds)

import { randomInt, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { type Guild, guild } from './redis.ts'
import { complete } from './watch.ts'

const MEMBERS = 1000
const CLIENTS = [1, 2, 5, 10]
const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'
const seconds = Number(process.argv[2] ?? 1)

/** A connection of its own, as a process has it: WATCH cannot share one. */
interface Caller {
  readonly client: Redis
  readonly guild: Guild
}

/** Completes a prefix; resolves to how often that was tried. */
type Way = (caller: Caller, prefix: string) => Promise<number>

interface Rate {
  readonly perSecond: number
  readonly tries: number
}

const name = randomUUID()
const key = `example:members:${name}`

const ways: readonly Way[] = [
  async ({ client }, prefix) => (await complete(client, key, prefix)).tries,
  async (caller, prefix) => {
    await caller.guild.complete({ prefix })
    return 1
  },
  async (caller, prefix) => {
    await caller.guild.completeByRange({ prefix })
    return 1
  },
]

function connected(): Caller {
  const client = new Redis(url)
  return { client, guild: guild(perilune(ioredis(client), { namespace: 'example' }), name) }
}

function letters(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(97 + randomInt(26))).join('')
}

async function compare({ client, guild: own }: Caller, prefix: string): Promise<void> {
  const before = (await complete(client, key, prefix)).names.join()
  for (const { names } of [await own.complete({ prefix }), await own.completeByRange({ prefix })]) {
    if (names.join() !== before) throw new Error(`${prefix}: ${before} and ${names.join()}`)
  }
}

/** All callers complete names for some time, each one call after the other. */
async function measure(way: Way, callers: readonly Caller[]): Promise<Rate> {
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  let calls = 0
  let tries = 0
  const work = async (caller: Caller): Promise<void> => {
    for (; performance.now() < endsAt; calls++) {
      const tried = await way(caller, letters(2))
      tries += tried
    }
  }
  await Promise.all(callers.map(work))
  return { perSecond: (calls * 1000) / (performance.now() - startedAt), tries: tries / calls }
}

function row(clients: number | string, ...cells: readonly string[]): string {
  return [String(clients).padStart(7), ...cells.map((cell) => cell.padStart(15))].join('')
}

async function printTable(callers: readonly Caller[]): Promise<void> {
  console.log(row('', 'WATCH', 'tries a call', 'script', 'by one range'))
  for (const clients of CLIENTS) {
    const rates: Rate[] = []
    for (const way of ways) rates.push(await measure(way, callers.slice(0, clients)))
    const [before, after, byRange] = rates.map(({ perSecond }) => `${perSecond.toFixed(0)}/s`)
    console.log(row(clients, before ?? '', (rates[0]?.tries ?? 0).toFixed(2), after ?? '', byRange ?? ''))
  }
}

const callers = Array.from({ length: Math.max(...CLIENTS) }, connected)
const [first] = callers
if (first === undefined) throw new Error('there is no caller')
const names = Array.from({ length: MEMBERS }, () => letters(6))
await first.guild.join({ names })
await first.client.zadd(key, ...names.flatMap((one) => [0, one]))

const prefixes = [
  ...Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at)),
  ...names.map((one) => one.slice(0, 2)),
  'zzzzzzz',
  'aaaaaaa',
]
for (const prefix of prefixes) await compare(first, prefix)
console.log(`the same names for ${prefixes.length} prefixes`)
await printTable(callers)

await first.client.del(key)
await first.guild.clear()
for (const { client } of callers) client.disconnect()
