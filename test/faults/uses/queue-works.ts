import type { ClaimedJob, JobOptions, Queue } from 'perilune'
import { setTestClock } from '../../../src/testing/test-clock.ts'
import { LOOKING_FOR_CALLS, type Place, type Work } from './use.ts'

type Jobs = Record<string, string>
type Call = (queue: Queue<Jobs>, job: ClaimedJob<string>) => unknown
type Bounds = readonly [commands: number, elements: number]
type Fill = (queue: Queue<Jobs>, place: Place, size: number) => Promise<unknown>

const HOUR_MS = 3_600_000
const THOUSAND = 1000
/** Of what is made with a call for each. */
const MOST_CALLS = 20_000

const queueOf = ({ redis, name }: Place): Queue<Jobs> => redis.queue<Jobs>(name)

/** Moves the clock of the queue so far from the server's. */
function moveClock({ driver, namespace, name }: Place, ms: number): Promise<void> {
  return setTestClock(driver, `${namespace}:{queue:${name}}`, (Date.now() + ms) * 1000)
}

async function enqueue(
  queue: Queue<Jobs>,
  size: number,
  optionsOf: (n: number) => JobOptions = () => ({}),
): Promise<string[]> {
  const ids: string[] = []
  for (let from = 0; from < size; from += THOUSAND) {
    const jobs = Array.from({ length: Math.min(THOUSAND, size - from) }, (_, at) => ({
      name: 'work',
      payload: `job ${from + at}`,
      ...optionsOf(from + at),
    }))
    ids.push(...(await queue.enqueueMany(jobs)).map(({ id }) => id))
  }
  return ids
}

async function claimAll(queue: Queue<Jobs>, size: number): Promise<ClaimedJob<string>[]> {
  const claimed: ClaimedJob<string>[] = []
  while (claimed.length < size) claimed.push(...(await queue.claim({ limit: 200, lease: '1m' })))
  return claimed
}

/** Fails so many jobs, in batches. */
async function failAll(queue: Queue<Jobs>, size: number, kindOf: (n: number) => string): Promise<void> {
  await enqueue(queue, size)
  const claimed = await claimAll(queue, size)
  for (let from = 0; from < size; from += THOUSAND) {
    const jobs = claimed.slice(from, from + THOUSAND)
    await Promise.all(jobs.map((job, at) => job.fail({ kind: kindOf(from + at), message: 'it is dead' })))
  }
}

/** A call on a queue that was filled in this way, next to one job that is claimed for an hour. */
/** One look more whenever there are twice as many. */
const LOOKING_FOR_PLACE = 50

function work(what: string, [commands, elements]: Bounds, fill: Fill, call: Call, chance = 0): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const queue = queueOf(place)
    await moveClock(place, 0)
    await queue.enqueue('work', 'mine')
    const [job] = await queue.claim({ lease: '12h' })
    await fill(queue, place, size)
    return async () => call(queue, job as ClaimedJob<string>)
  }
  return { what, commands, elements, chance, prepare }
}

const ready: Fill = (queue, _, size) => enqueue(queue, size)
const claimed: Fill = async (queue, _, size) => {
  await enqueue(queue, size)
  await claimAll(queue, size)
}
const scheduled: Fill = (queue, _, size) => enqueue(queue, size, (n) => ({ id: `job ${n}`, delay: '1h' }))
const prioritized: Fill = (queue, _, size) =>
  enqueue(queue, size, (n) => ({ id: `job ${n}`, priority: (n % 9) + 1 }))
const grouped: Fill = (queue, _, size) =>
  enqueue(queue, size, (n) => ({ id: `job ${n}`, group: `group ${n}` }))

/** All wait for the one job that is claimed. */
const waitedFor: Fill = async (queue, _, size) => {
  const { jobs } = await queue.jobs.list('claimed')
  const dependencies = jobs.map(({ id }) => id)
  await enqueue(queue, size, (n) => ({ id: `job ${n}`, dependsOn: dependencies }))
}

const lost: Fill = async (queue, place, size) => {
  await claimed(queue, place, size)
  await moveClock(place, HOUR_MS)
}
/** All were given back, and after that came the first job with a priority. */
const returned: Fill = async (queue, _, size) => {
  await enqueue(queue, size)
  const jobs = await claimAll(queue, size)
  for (let from = 0; from < size; from += THOUSAND) {
    await Promise.all(jobs.slice(from, from + THOUSAND).map((job) => job.release()))
  }
  await queue.enqueue('work', 'first', { priority: 1 })
}
const lostInGroups: Fill = async (queue, place, size) => {
  await grouped(queue, place, size)
  await claimAll(queue, size)
  await moveClock(place, HOUR_MS)
}
const lostForGood: Fill = async (queue, place, size) => {
  await enqueue(queue, size, () => ({ maxAttempts: 1 }))
  await claimAll(queue, size)
  await moveClock(place, HOUR_MS)
}
const due: Fill = async (queue, place, size) => {
  await scheduled(queue, place, size)
  await moveClock(place, 2 * HOUR_MS)
}
const dead: Fill = (queue, _, size) => failAll(queue, size, () => 'odd')
const deadOfTwo: Fill = (queue, _, size) => failAll(queue, size, (n) => (n % 2 === 0 ? 'even' : 'odd'))
const deadOfMuch: Fill = (queue, _, size) => failAll(queue, Math.min(size, MOST_CALLS), (n) => `kind ${n}`)

/** All have ended and are kept, until from now on ten are. */
const doneAndKept: Fill = async (queue, _, size) => {
  await queue.settings.set({ retention: { count: size } })
  await enqueue(queue, size)
  const jobs = await claimAll(queue, size)
  for (let from = 0; from < size; from += THOUSAND) {
    await Promise.all(jobs.slice(from, from + THOUSAND).map((job) => job.ack('done')))
  }
  const { done } = await queue.settings.inspect()
  if (done !== size) throw new Error(`of ${size} jobs that are done ${done} are kept`)
  await queue.settings.set({ retention: { count: 10 } })
}

/** Remains of jobs that were cancelled in their place: their places in the list. */
const ghosts: Fill = async (queue, _, size) => {
  const ids = await enqueue(queue, size)
  for (let from = 0; from < size; from += THOUSAND) await queue.jobs.cancel(ids.slice(from, from + THOUSAND))
}

/** Groups that may start one job an hour have started one each, and an hour is over. */
const heldBack: Fill = async (queue, place, size) => {
  const count = Math.min(size, MOST_CALLS)
  const rate = { limit: 1, window: '1h' } as const
  for (let from = 0; from < count; from += THOUSAND) {
    const names = Array.from({ length: Math.min(THOUSAND, count - from) }, (_, at) => `group ${from + at}`)
    await Promise.all(names.map((each) => queue.settings.setGroup(each, { rate })))
  }
  await enqueue(queue, 2 * count, (n) => ({ group: `group ${n % count}` }))
  const jobs = await claimAll(queue, count)
  await Promise.all(jobs.map((job) => job.ack()))
  await moveClock(place, HOUR_MS)
}

/** Workers of processes that have died. */
const goneWorkers: Fill = async (queue, { client, namespace, name }, size) => {
  await queue.enqueue('work', 'one', { delay: '3h' })
  const key = `${namespace}:{queue:${name}}`
  for (let from = 0; from < size; from += THOUSAND) {
    const members = Array.from({ length: Math.min(THOUSAND, size - from) }, (_, at) => [
      from + at,
      `gone${from + at}.1`,
    ])
    await client.zadd(`${key}:idle`, ...members.flat())
  }
  await setIdle(client, key, size)
}

/** The number of those who wait, in the state: the sixth of its doubles. */
async function setIdle(client: Place['client'], key: string, count: number): Promise<void> {
  const state = await client.hgetBuffer(`${key}:meta`, 'state')
  if (state === null) throw new Error('there is no queue')
  state.writeDoubleBE(count, 5 * 8)
  await client.hset(`${key}:meta`, 'state', state)
}

/** Each by an interval of an hour, or by cron. */
const recurring: Fill = async (queue, _, size) => {
  const count = Math.min(size, MOST_CALLS)
  for (let from = 0; from < count; from += THOUSAND) {
    const ids = Array.from({ length: Math.min(THOUSAND, count - from) }, (_each, at) => `often ${from + at}`)
    const often = { name: 'work', payload: 'again', every: '1h' } as const
    await Promise.all(ids.map((id) => queue.recurring.set(id, often)))
  }
  await queue.recurring.set('minutely', { name: 'work', payload: 'again', cron: '* * * * *' })
}
const recurringDue: Fill = async (queue, place, size) => {
  await recurring(queue, place, size)
  await moveClock(place, 2 * HOUR_MS)
}
/** One of which many runs were missed. */
const runsMissed: Fill = async (queue, place, size) => {
  const missed = { upTo: Math.min(size, THOUSAND) }
  await queue.recurring.set('often', { name: 'work', payload: 'again', every: '1s', missed })
  await moveClock(place, 2 * HOUR_MS)
}

const ONE = [14, 140] as const
/** With the commands that are tried on nothing first. */
const TRIED = [24, 140] as const
const claim =
  (limit: number): Call =>
  (queue) =>
    queue.claim({ limit, lease: '1h' })

const tagged: Fill = (queue, _place, size) =>
  enqueue(queue, size, (n) => ({ id: `job ${n}`, tags: ['all', `tag ${n % 100}`] }))

export const queueWorks: readonly Work[] = [
  work('an enqueue', ONE, ready, (queue) => queue.enqueue('work', 'one more')),
  work('an enqueue with options', [20, 200], scheduled, (queue) =>
    queue.enqueue('work', 'one more', { id: 'mine', unique: 'key', delay: '1h' }),
  ),
  work('an enqueue into a group', [20, 200], grouped, (queue) =>
    queue.enqueue('work', 'one more', { group: 'group 7' }),
  ),
  work('an enqueue where many waited who are gone', [40, 3200], goneWorkers, (queue) =>
    queue.enqueue('work', 'one more'),
  ),
  work('a claim of twenty', [20, 500], ready, claim(20)),
  work('a claim of twenty by priority', [24, 600], prioritized, claim(20)),
  work('a claim of twenty of groups', [220, 1800], grouped, claim(20)),
  work('a claim beside many claims', ONE, claimed, claim(20)),
  work('a claim where many are lost', [700, 6000], lost, claim(20)),
  work('a claim where many of groups are lost', [1300, 9000], lostInGroups, claim(20)),
  work('a claim where many are lost for good', [1100, 9000], lostForGood, claim(20)),
  work('a claim where many are due', [600, 6000], due, claim(20)),
  work('a claim where many came back', [50, 900], returned, claim(20)),
  work('a claim where many groups may go on', [800, 5000], heldBack, claim(20)),
  work('a claim where many were cancelled', [220, 8000], ghosts, claim(20)),
  work('an ack', ONE, claimed, (_queue, job) => job.ack('done')),
  work(
    'an ack where too many are kept',
    [220, 2000],
    doneAndKept,
    (_queue, job) => job.ack('done'),
    LOOKING_FOR_CALLS,
  ),
  work('an ack that many wait for', [900, 4000], waitedFor, (_queue, job) => job.ack('done')),
  work('a failure with many dependents', [1600, 9000], waitedFor, (_queue, job) => job.fail()),
  work('another dependency', [30, 300], waitedFor, (queue) => queue.jobs.addDependencies('job 7', ['job 6'])),
  work('an advance', [30, 300], claimed, (_queue, job) =>
    job.ackAndEnqueue({ name: 'work', payload: 'next' }),
  ),
  work('an extension', ONE, claimed, (_queue, job) => job.extend('1h')),
  work('a retry', TRIED, scheduled, (_queue, job) => job.retry({ delay: '1h' })),
  work('a failure', [30, 160], dead, (_queue, job) => job.fail({ kind: 'odd' })),
  work('a cancellation', [20, 120], scheduled, (queue) => queue.jobs.cancel(['job 7'])),
  work('a cancellation in a group', [30, 120], grouped, (queue) => queue.jobs.cancel(['job 7'])),
  work('a requeue', [20, 140], scheduled, (queue) => queue.jobs.requeue(['job 7'])),
  work('another priority', [20, 120], prioritized, (queue) => queue.jobs.reprioritize(['job 7'], 70)),
  work('a look at one job', ONE, prioritized, (queue) => queue.jobs.get('job 7')),
  work('a page of fifty', [70, 1200], scheduled, (queue) => queue.jobs.list('scheduled', { after: '500' })),
  work(
    'a page of fifty dead of one kind',
    [90, 1300],
    deadOfTwo,
    (queue, job) => queue.jobs.list('dead', { kind: 'odd', after: job.number }),
    LOOKING_FOR_PLACE,
  ),
  work('what jobs are dead of', [8, 2400], deadOfMuch, (queue) => queue.dead.list(), 100),
  work('a search', [140, 2000], scheduled, (queue) => queue.jobs.search({ name: 'work' }), 400),
  work(
    'all that are dead of one kind',
    [2300, 20_000],
    dead,
    (queue) => queue.dead.requeue('odd'),
    LOOKING_FOR_PLACE,
  ),
  work(
    'dropping all that are dead of one kind',
    [2100, 20_000],
    dead,
    (queue) => queue.dead.drop('odd'),
    LOOKING_FOR_PLACE,
  ),
  work('a claim where many recurring jobs are due', [1100, 6500], recurringDue, claim(20)),
  work('a claim where many runs were missed', [500, 2800], runsMissed, claim(20)),
  work('setting a recurring job', ONE, recurring, (queue) =>
    queue.recurring.set('one more', { name: 'work', payload: 'again', every: '1h' }),
  ),
  work('setting a recurring job by cron', [16, 160], recurring, (queue) =>
    queue.recurring.set('one more', { name: 'work', payload: 'again', cron: '0 * * * *' }),
  ),
  work('removing a recurring job', ONE, recurring, (queue) => queue.recurring.remove('often 7')),
  work('a look at one recurring job', ONE, recurring, (queue) => queue.recurring.get('often 7')),
  work('a page of fifty recurring jobs', [70, 1900], recurring, (queue) =>
    queue.recurring.list({ after: '500' }),
  ),
  work('statistics of two hours', [10, 1400], claimed, (queue) => queue.stats()),
  work('an inspection', [20, 140], grouped, (queue) => queue.settings.inspect()),
  work('a page of fifty with a tag', [70, 1600], tagged, (queue) => queue.jobs.search({ tag: 'all' })),
  work('the most common tags', [250, 1500], tagged, (queue) => queue.jobs.tags()),
  work('a tag', [20, 140], tagged, (queue) => queue.jobs.tag('job 7', ['one more'])),
  work('following a job', ONE, tagged, (queue) => queue.jobs.track('job 7')),
  // The places of removed jobs are swept, at both ends of the list.
  work('a cancellation of a tagged job', [30, 330], tagged, (queue) => queue.jobs.cancel(['job 7'])),
  work('a look at a history', ONE, tagged, (queue) => queue.jobs.history('job 7')),
  work('a line in a log', ONE, tagged, (queue) => queue.jobs.log('job 7', 'a line')),
  work('a look for a result', ONE, tagged, (queue) => queue.jobs.waitForResult('job 7')),
  work('a setting of the queue', ONE, grouped, (queue) => queue.settings.pause()),
  work('a setting of a group', ONE, grouped, (queue) => queue.settings.pauseGroup('group 7')),
  work('clearing', [40, 100], grouped, (queue) => queue.clear()),
]
