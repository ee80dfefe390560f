import type { ClaimedJob, NewJob, Queue } from 'perilune'
import { outboxSteps, dependencySteps } from './queue-dependencies.ts'
import { recurringSteps } from './queue-recurring.ts'
import { queueWorks } from './queue-works.ts'
import { spreadQueueSteps } from './spread.ts'
import { errorOf, type Place, reaches, type Step, type Use } from './use.ts'

type Jobs = Record<string, number>

const HOUR = '1h'

function steps(place: Place): readonly Step[] {
  return [
    ...enqueueSteps(place),
    ...plainSteps(place),
    ...attemptSteps(place),
    ...groupSteps(place),
    ...lostSteps(place),
    ...sightSteps(place),
    ...settingSteps(place),
    ...workerSteps(place),
    ...dependencySteps(place),
    ...outboxSteps(place),
    ...recurringSteps(place),
    ...spreadQueueSteps(place),
  ]
}

/** How many jobs are in each state, and how often something happened: once, whatever went wrong. */
async function seen(queue: Queue<Jobs>): Promise<number[]> {
  const inspection = await queue.settings.inspect()
  const states = [
    inspection.ready,
    inspection.scheduled,
    inspection.claimed,
    inspection.dead,
    inspection.done,
  ]
  return [
    ...states,
    inspection.enqueued,
    inspection.acked,
    inspection.retried,
    inspection.failed,
    inspection.reclaimed,
    inspection.cancelled,
  ]
}

const namesOf = (jobs: readonly { name: string }[]): string[] => jobs.map(({ name }) => name)

/** The counts in the statistics of the day: the same, however often a call was sent. */
async function countedBy(queue: Queue<Jobs>): Promise<number[]> {
  const { total } = await queue.stats({ by: 'day' })
  const { enqueued, acked, retried, failed, reclaimed, cancelled, wait, run } = total
  return [enqueued, acked, retried, failed, reclaimed, cancelled, wait.count, run.count]
}

/** Jobs of every kind, and the operations on them while no worker holds them. */
function enqueueSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(name)
  const mixed: NewJob<Jobs>[] = [
    { name: 'later', payload: 1, id: 'later', delay: HOUR, tags: ['slow'] },
    { name: 'only', payload: 2, id: 'only', unique: 'key', priority: 2 },
    { name: 'grouped', payload: 3, id: 'grouped', group: 'ada', trace: 'trace' },
    { name: 'later', payload: 4, id: 'later' },
  ]
  const replacing = { unique: { key: 'key', replace: true }, delay: HOUR } as const
  const plain = [1, 2, 3].map((payload) => ({ name: 'plain', payload }))
  const duplicates = async (jobs: NewJob<Jobs>[]): Promise<boolean[]> =>
    (await queue.enqueueMany(jobs)).map(({ duplicate }) => duplicate)
  const first = async (): Promise<string> => (await queue.jobs.list('ready', { limit: 1 })).jobs[0]?.id ?? ''
  return [
    ['enqueue-alike', 'refuses', () => duplicates(plain)],
    ['enqueue', 'refuses', () => duplicates(mixed)],
    ['enqueue', 'refuses', async () => (await queue.enqueue('only', 5, { unique: 'key' })).duplicate],
    ['enqueue', 'refuses', async () => (await queue.enqueue('other', 6, replacing)).id.length > 0],
    ['get', 'serves', async () => namesOf(await queue.jobs.getMany(['later', 'only', 'unknown']))],
    ['list', 'serves', async () => namesOf((await queue.jobs.list('ready')).jobs)],
    ['list', 'serves', async () => namesOf((await queue.jobs.list('grouped')).jobs)],
    ['search', 'serves', async () => namesOf((await queue.jobs.search({ name: 'only' })).jobs)],
    ['reprioritize', 'serves', async () => queue.jobs.reprioritize([await first(), 'unknown'], 7)],
    ['list', 'serves', async () => namesOf((await queue.jobs.list('prioritized')).jobs)],
    // A repetition cannot know the first result.
    ['requeue', 'serves', async () => void (await queue.jobs.requeue(['only']))],
    ['cancel', 'serves', async () => void (await queue.jobs.cancel(['later', 'only', 'grouped']))],
    ['inspect', 'serves', () => seen(queue)],
    ['clear', 'serves', async () => void (await queue.clear())],
    ['inspect', 'serves', () => seen(queue)],
  ]
}

/** The fast path. */
function plainSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} plain`)
  let claimed: ClaimedJob<number>[] = []
  // A handle of its own each time: one that was declined before does not try at once.
  const fresh = (): Queue<Jobs> => redis.queue<Jobs>(`${name} plain`)
  const claim = async (): Promise<string[]> => {
    claimed = await fresh().claim({ limit: 2, lease: HOUR })
    return namesOf(claimed)
  }
  const ack = (): Promise<unknown> =>
    fresh().byToken.ack(claimed.slice(1).map(({ id, token }) => ({ id, token })))
  const plain = [1, 2, 3].map((payload) => ({ name: 'plain', payload }))
  return [
    ['enqueue-alike', 'refuses', async () => void (await queue.enqueueMany(plain))],
    ['ack-and-claim-plain', 'serves', claim],
    ['release', 'serves', async () => claimed[0]?.release()],
    ['ack-and-claim-plain', 'serves', ack],
    ['ack-and-claim-plain', 'serves', claim],
    ['inspect', 'serves', () => seen(queue)],
    ['stats', 'serves', () => countedBy(queue)],
    ['clear', 'serves', async () => void (await queue.clear())],
  ]
}

/** The outcomes of attempts, and their remains. */
function attemptSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} worked`)
  const once = { maxAttempts: 1 }
  const jobs: NewJob<Jobs>[] = [
    { name: 'ack', payload: 1 },
    { name: 'retry', payload: 2, backoff: { kind: 'fixed', base: HOUR } },
    { name: 'again', payload: 3 },
    { name: 'last', payload: 4, ...once },
    { name: 'fail', payload: 5 },
    { name: 'stop', payload: 6, id: 'stop' },
  ]
  let claimed: ClaimedJob<number>[] = []
  const job = (at: number): ClaimedJob<number> => claimed[at] as ClaimedJob<number>
  const claim = async (limit: number): Promise<[string, number][]> => {
    claimed = await queue.claim({ limit, lease: HOUR })
    return claimed.map(({ name: of, attempt }) => [of, attempt])
  }
  return [
    ['configure', 'refuses', () => queue.settings.set({ retention: { count: 1 } })],
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(jobs))],
    ['ack-and-claim', 'serves', () => claim(6)],
    ['extend', 'serves', () => job(0).extend('2h')],
    ['ack-and-claim', 'serves', () => job(0).ack({ is: 'done' })],
    ['retry', 'serves', () => job(1).retry({ kind: 'odd' })],
    ['retry', 'serves', () => job(2).retry({ kind: 'odd', delay: '0ms' })],
    ['retry', 'serves', () => job(3).retry({ kind: 'odd' })],
    ['fail', 'serves', () => job(4).fail({ kind: 'odd', message: 'no such user' })],
    ['cancel', 'refuses', () => queue.jobs.cancel(['stop'])],
    ['extend', 'serves', () => errorOf(job(5).extend(HOUR))],
    ['inspect', 'serves', () => seen(queue)],
    ['stats', 'serves', () => countedBy(queue)],
    ['count-dead', 'serves', async () => (await queue.dead.list()).map(({ count }) => count)],
    ['get', 'serves', async () => (await queue.jobs.getMany(['stop'])).map(({ state }) => state)],
    ['list', 'serves', async () => (await queue.jobs.list('done')).jobs.map(({ result }) => result)],
    ['list-dead', 'serves', async () => namesOf((await queue.jobs.list('dead', { kind: 'odd' })).jobs)],
    ['requeue-dead', 'serves', async () => void (await queue.dead.requeue('odd'))],
    ['ack-and-claim', 'serves', () => claim(9)],
    ['ack-and-claim', 'serves', () => Promise.all(claimed.map((each) => each.ack()))],
    ['inspect', 'serves', () => seen(queue)],
  ]
}

/** Jobs of groups that may do so much. */
function groupSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} grouped`)
  const rate = { limit: 1, window: HOUR } as const
  const jobs = ['ada', 'ada', 'bob', 'bob'].map((group) => ({ name: group, payload: 1, group }))
  let claimed: ClaimedJob<number>[] = []
  const claim = async (): Promise<string[]> => {
    claimed = await queue.claim({ limit: 9, lease: HOUR })
    return namesOf(claimed)
  }
  return [
    ['configure-group', 'refuses', async () => queue.settings.setGroup('ada', { concurrency: 1 })],
    ['configure-group', 'serves', async () => queue.settings.setGroup('bob', { rate })],
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(jobs))],
    ['ack-and-claim', 'serves', claim],
    ['ack-and-claim', 'serves', () => Promise.all(claimed.map((job) => job.ack()))],
    ['configure-group', 'serves', () => queue.settings.pauseGroup('bob')],
    ['ack-and-claim', 'serves', claim],
    ['retry', 'serves', () => Promise.all(claimed.map((job) => job.retry()))],
    ['inspect', 'serves', () => seen(queue)],
    ['clear', 'serves', async () => void (await queue.clear())],
  ]
}

/** Jobs of lost workers are taken back, or are dead. */
function lostSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} lost`)
  const jobs = [2, 1].map((maxAttempts) => ({ name: `lost ${maxAttempts}`, payload: 1, maxAttempts }))
  // Whether the answer arrives before the leases are over says nothing about the server; that both are overdue does.
  const lose = async (): Promise<number> => {
    await queue.claim({ limit: 2, lease: '10ms' })
    await reaches(async () => (await queue.settings.inspect()).overdue === 2)
    return (await queue.settings.inspect()).overdue
  }
  return [
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(jobs))],
    ['ack-and-claim', 'unasked', lose],
    ['ack-and-claim', 'serves', async () => namesOf(await queue.claim({ limit: 2, lease: HOUR }))],
    ['inspect', 'serves', () => seen(queue)],
    ['requeue-dead', 'serves', async () => void (await queue.dead.drop('lost'))],
    ['inspect', 'serves', () => seen(queue)],
  ]
}

/** Which events of jobs are published, and to whom. */
function sightSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} seen`)
  const jobs: NewJob<Jobs>[] = [
    { name: 'seen', payload: 1, id: 'seen', tags: ['red'], resultTtl: HOUR },
    { name: 'other', payload: 2, id: 'other', tags: ['blue', 'red'] },
  ]
  let claimed: ClaimedJob<number>[] = []
  const claim = async (): Promise<string[]> => {
    claimed = await queue.claim({ limit: 2, lease: HOUR })
    return namesOf(claimed)
  }
  const happened = async (): Promise<string[]> =>
    ((await queue.jobs.history('other'))?.entries ?? []).map(({ what }) => what)
  const lines = async (): Promise<string[]> =>
    (await queue.jobs.getMany(['seen', 'other'])).flatMap(({ log }) => log.map(({ line }) => line))
  return [
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(jobs))],
    ['tag', 'refuses', () => queue.jobs.tag('seen', ['green', 'red'])],
    ['tag', 'refuses', () => queue.jobs.untag('other', ['blue'])],
    ['tags', 'serves', () => queue.jobs.tags()],
    ['track', 'refuses', () => queue.jobs.track('seen')],
    ['search-tagged', 'serves', async () => namesOf((await queue.jobs.search({ tag: 'red' })).jobs)],
    ['search-tagged', 'serves', async () => namesOf((await queue.jobs.tracked()).jobs)],
    ['ack-and-claim', 'serves', claim],
    ['note', 'refuses', async () => claimed[0]?.progress('half')],
    ['note', 'refuses', async () => claimed[0]?.log('half of it')],
    ['note', 'refuses', () => queue.jobs.log('other', 'seen')],
    ['get', 'serves', lines],
    ['retry', 'serves', async () => claimed[1]?.retry({ delay: HOUR })],
    ['history', 'serves', happened],
    ['await-end', 'serves', () => queue.jobs.waitForResult('seen')],
    ['ack-and-claim', 'serves', async () => claimed[0]?.ack('done')],
    ['await-end', 'serves', () => queue.jobs.waitForResult('seen')],
    ['listen', 'refuses', () => heardIn(queue)],
    ['inspect', 'serves', () => seen(queue)],
    ['clear', 'serves', async () => void (await queue.clear())],
  ]
}

/** Events that a new listener gets after it starts to listen. */
async function heardIn(queue: Queue<Jobs>): Promise<unknown> {
  const events = queue.events()
  const first = events.next()
  first.catch(() => undefined)
  const stirred = async (): Promise<boolean> => {
    // Events before it listens are not published.
    await queue.jobs.reprioritize(['other'], Math.floor(Math.random() * 1000))
    const still = new Promise<false>((resolve) => setTimeout(() => resolve(false), 20))
    return Promise.race([first.then(() => true), still])
  }
  try {
    await reaches(stirred, first)
    const { value } = await first
    return value?.kind
  } finally {
    await events.return(undefined)
  }
}

function settingSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} set`)
  const rate = { limit: 1, window: HOUR } as const
  const claim = async (): Promise<string[]> => namesOf(await queue.claim({ limit: 5, lease: HOUR }))
  const plain = ['a', 'a', 'a'].map((each) => ({ name: each, payload: 1 }))
  return [
    ['configure', 'refuses', () => queue.settings.pause()],
    ['enqueue-alike', 'refuses', async () => void (await queue.enqueueMany(plain))],
    ['ack-and-claim', 'refuses', claim],
    ['configure', 'refuses', () => queue.settings.resume()],
    ['configure', 'refuses', () => queue.settings.set({ rate, concurrency: 2 })],
    ['ack-and-claim', 'serves', claim],
    ['ack-and-claim', 'refuses', claim],
    ['inspect', 'serves', () => seen(queue)],
    ['clear', 'serves', async () => void (await queue.clear())],
  ]
}

/** A waiter is woken, and a worker does all ready jobs. */
function workerSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} at work`)
  const wake = async (): Promise<string[]> => {
    const waiting = queue.claim({ wait: '20s', lease: HOUR })
    waiting.catch(() => undefined)
    await reaches(async () => (await queue.settings.inspect()).idle === 1, waiting)
    await queue.enqueue('woken', 1)
    return namesOf(await waiting)
  }
  const work = async (): Promise<number> => {
    let sum = 0
    await using _worker = queue.work(({ payload }) => (sum += payload))
    await queue.enqueueMany([1, 2, 3].map((payload) => ({ name: 'worked', payload })))
    await reaches(async () => (await queue.settings.inspect()).acked === 3)
    return sum
  }
  return [
    ['enqueue-alike', 'unasked', wake],
    ['ack-and-claim', 'unasked', work],
    ['inspect', 'serves', () => seen(queue)],
  ]
}

export const use: Use = { steps, works: queueWorks }
