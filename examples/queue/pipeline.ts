// Imports texts, counts their words in parallel, and looks at what went wrong:
//   npx tsx examples/queue/pipeline.ts
// Each text is a job that makes a job for each of its paragraphs. One paragraph cannot be read twice and can the third
// time; one can never be read.

import { Redis } from 'ioredis'
import { type ClaimedJob, type Enqueued, type NewJob, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { paragraphs } from './texts.ts'

interface Jobs {
  import: { title: string }
  count: { title: string; at: number }
}

/** As a file, a service or a database would fail. */
class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
const queue = redis.queue<Jobs>('texts')
const backoff = { kind: 'exponential', base: '50ms' } as const

/** What has been counted of each text. */
const words = new Map<string, { parts: number; count: number }>()

async function importText({ payload: { title } }: ClaimedJob<Jobs['import']>): Promise<number> {
  const jobs = paragraphs(title).map((_, at): NewJob<Jobs> => {
    // With an id of its own a paragraph is counted once, though its text should be imported twice.
    return { name: 'count', payload: { title, at }, id: `${title} ${at}`, group: title, backoff }
  })
  await queue.enqueueMany(jobs)
  return jobs.length
}

function countWords({ payload: { title, at }, attempt, id }: ClaimedJob<Jobs['count']>): number {
  const text = paragraphs(title)[at] ?? ''
  if (text.includes('\0')) throw new UnreadableError(`${id} is no text`)
  if (text.startsWith('~') && attempt < 3) throw new UnreadableError(`${id} is not there yet`)
  const count = text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length
  const sum = words.get(title) ?? { parts: 0, count: 0 }
  words.set(title, { parts: sum.parts + 1, count: sum.count + count })
  return count
}

function enqueueAll(titles: readonly string[]): Promise<Enqueued[]> {
  return queue.enqueueMany(titles.map((title) => ({ name: 'import', payload: { title }, unique: title })))
}

/** Until every job is done or dead. */
async function quiet(of: Queue<Jobs>): Promise<void> {
  for (;;) {
    const { ready, scheduled, claimed } = await of.inspect()
    if (ready + scheduled + claimed === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function report(error: unknown, job: ClaimedJob | null): void {
  const message = error instanceof Error ? error.message : String(error)
  console.log(job === null ? message : `attempt ${job.attempt} of ${job.maxAttempts}: ${message}`)
}

await queue.clear()
await queue.settings.set({ retention: { count: 100 } })
const titles = ['moon', 'tides', 'orbits']
await enqueueAll(titles)
const again = await enqueueAll(['moon'])
console.log(
  `${titles.length} texts to import; a second import of the moon is a duplicate: ${again[0]?.duplicate}`,
)

{
  // In other processes there may be more; closed at the end of the block, when what they have at work is done.
  const handlers = { import: importText, count: countWords }
  await using _first = queue.work(handlers, { concurrency: 2, onError: report })
  await using _second = queue.work(handlers, { concurrency: 4, onError: report })
  await quiet(queue)
}
for (const title of titles.toSorted()) {
  const { parts, count } = words.get(title) ?? { parts: 0, count: 0 }
  console.log(`${title}: ${count} words in ${parts} of ${paragraphs(title).length} paragraphs`)
}

const late = await queue.jobs.get('tides 1')
console.log(`tides 1 is ${late?.state} after ${late?.attempts} attempts: ${String(late?.result)} words`)
for (const { kind, count, sample } of await queue.dead.list()) {
  console.log(`${count} dead of ${kind}: ${sample.message.split('\n')[0]}`)
}

console.log(`${await queue.dead.requeue('UnreadableError')} requeued, for a worker that can read it`)
{
  await using _reader = queue.work({ count: ({ payload }) => `skipped ${payload.title} ${payload.at}` })
  await quiet(queue)
}
console.log(`orbits 0 is done: ${String((await queue.jobs.get('orbits 0'))?.result)}`)

await queue.recurring.set('moon', {
  name: 'import',
  payload: { title: 'moon' },
  // Each process of the program may say so when it starts.
  cron: '0 4 * * *',
  timeZone: 'Europe/Berlin',
})
const { nextAtMs } = (await queue.recurring.get('moon')) ?? {}
const time = new Date(nextAtMs ?? 0).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })
console.log(`the moon will be imported again each day at ${time}`)

await queue.clear()
await redis.close()
client.disconnect()
