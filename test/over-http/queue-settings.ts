// Settings of a whole queue and of its groups, its recurring jobs, and its statistics.

import type { QueueSettings, RecurringJob, StatsPeriod } from 'perilune'
import { found } from './outcome.ts'
import { drawOptions, GROUPS, pathOf, type QueueSteps, type QueueWorld, VALUES } from './queue-world.ts'

const RECURRING = ['r', 's/é']

export function settingsOf(world: QueueWorld): QueueSteps {
  return {
    steps: [
      () => set(world),
      () => pauseOrResume(world),
      () => setGroup(world),
      () => pauseOrResumeGroup(world),
      () => setRecurring(world),
      () => setRecurring(world),
      () => setRecurringWrongly(world),
      () => removeRecurring(world),
    ],
    looks: [() => findRecurring(world), () => listRecurring(world), () => stats(world)],
  }
}

/** Limits of claims are removed as often as they are set. */
async function set({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const settings = sides.dice.oneOf<object>([
    { concurrency: 9 },
    { concurrency: null, rate: null },
    { rate: { limit: 9, window: '30d' } },
    { rate: null },
    { rate: { limit: 9, window: '30d', burst: 12 }, concurrency: null },
    { retention: { count: 3, age: '1h' } },
    { retention: { count: 20 } },
    { retention: null },
    {},
    { concurrency: -1 },
    { rate: { limit: 0, window: '1h' } },
    { rate: { limit: 5 } },
    { retention: { age: 'soon' } },
    { colour: 'red' },
  ])
  await sides.same(
    `set ${JSON.stringify(settings)}`,
    () => queue.settings.set(settings as QueueSettings),
    () => sides.http.patch(`${url}/settings`, settings, query),
  )
}

/** Resumed more often than paused. */
async function pauseOrResume({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const pauses = sides.dice.chance(0.3)
  await sides.same(
    pauses ? 'pause' : 'resume',
    () => (pauses ? queue.settings.pause() : queue.settings.resume()),
    () => sides.http.post(`${url}/${pauses ? 'pause' : 'resume'}`, undefined, query),
  )
}

async function setGroup({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const group = sides.dice.oneOf(GROUPS)
  const settings = sides.dice.oneOf<object>([
    { concurrency: 2 },
    { concurrency: null },
    { rate: { limit: 3, window: '30d', burst: 5 } },
    { rate: null },
    { concurrency: 0 },
    { retention: { count: 1 } },
  ])
  await sides.same(
    `set ${JSON.stringify(settings)} of ${group}`,
    () => queue.settings.setGroup(group, settings),
    () => sides.http.patch(`${url}/groups/${pathOf(group)}`, settings, query),
  )
}

async function pauseOrResumeGroup({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const group = sides.dice.oneOf(GROUPS)
  const pauses = sides.dice.chance(0.4)
  await sides.same(
    `${pauses ? 'pause' : 'resume'} ${group}`,
    () => (pauses ? queue.settings.pauseGroup(group) : queue.settings.resumeGroup(group)),
    () => sides.http.post(`${url}/groups/${pathOf(group)}/${pauses ? 'pause' : 'resume'}`, undefined, query),
  )
}

/** None is due meanwhile. */
async function setRecurring(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { dice } = sides
  const id = dice.oneOf(RECURRING)
  const recurring = {
    ...dice.oneOf<object>([
      { every: '300d', offset: '1h' },
      { every: '365d' },
      { cron: '0 9 29 2 *', timeZone: 'Europe/Berlin' },
    ]),
    name: 'spawned',
    payload: dice.oneOf(VALUES),
    ...drawOptions(world),
    ...(dice.chance(0.3) && { missed: dice.oneOf(['skip', 'one', { upTo: 3 }]) }),
    ...(dice.chance(0.3) && { limit: 5 }),
    ...(dice.chance(0.3) && { until: 4_000_000_000_000 }),
  }
  await sides.same(
    `let ${id} recur ${JSON.stringify(recurring).slice(0, 300)}`,
    async () => ({ id, ...(await queue.recurring.set(id, recurring as never)) }),
    () => sides.http.put(`${url}/recurring/${pathOf(id)}`, recurring, query),
  )
}

async function setRecurringWrongly({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const wrong = sides.dice.oneOf([
    {},
    { every: '0s' },
    { every: '1h', offset: '2h' },
    { every: '1h', cron: '0 9 * * *' },
    { cron: 'at nine' },
    { cron: '0 9 * * *', timeZone: 'Moon/Rupes' },
    { every: '1h', missed: { upTo: 0 } },
    { every: '1h', limit: -1 },
    { every: '1h', id: 'a' },
    { every: '1h', resultTtl: '1h' },
    { every: '1h', unique: { key: 'k', replace: true } },
  ])
  const recurring = { name: 'spawned', payload: 1, ...wrong }
  await sides.same(
    `let r recur ${JSON.stringify(wrong)}`,
    () => queue.recurring.set('r', recurring as never),
    () => sides.http.put(`${url}/recurring/r`, recurring, query),
  )
}

async function removeRecurring({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const id = sides.dice.oneOf(RECURRING)
  await sides.same(
    `let ${id} recur no more`,
    async () => void (await queue.recurring.remove(id)),
    () => sides.http.delete(`${url}/recurring/${pathOf(id)}`, query),
  )
}

function shown({ payload = null, ...rest }: RecurringJob): object {
  return { ...rest, payload }
}

async function findRecurring({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const id = sides.dice.oneOf(RECURRING)
  await sides.same(
    `find ${id}, which recurs`,
    async () => shown(found(await queue.recurring.get(id))),
    () => sides.http.get(`${url}/recurring/${pathOf(id)}`, query),
  )
}

async function listRecurring({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const limit = sides.dice.oneOf([1, 50, -1])
  await sides.same(
    `list what recurs, ${limit}`,
    async () => {
      const { recurring, next } = await queue.recurring.list({ limit })
      return { recurring: recurring.map(shown), next }
    },
    () => sides.http.get(`${url}/recurring`, { limit, ...query }),
  )
}

/** The sums of the periods: a minute may end between both sides. */
function together(periods: readonly StatsPeriod[]): object {
  const sum = (count: (period: StatsPeriod) => number): number =>
    periods.reduce((all, period) => all + count(period), 0)
  return {
    length: periods.length,
    enqueued: sum(({ enqueued }) => enqueued),
    acked: sum(({ acked }) => acked),
    retried: sum(({ retried }) => retried),
    failed: sum(({ failed }) => failed),
    cancelled: sum(({ cancelled }) => cancelled),
    reclaimed: sum(({ reclaimed }) => reclaimed),
    waited: sum(({ wait }) => wait.count),
    run: sum(({ run }) => run.count),
    members: [...new Set(periods.flatMap((period) => Object.keys(period)))].toSorted(),
  }
}

async function stats({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const wanted = sides.dice.oneOf([
    {},
    { name: 'mail' },
    { by: 'hour' as const },
    { by: 'week' as never },
    { last: -1 },
  ])
  await sides.same(
    `stats ${JSON.stringify(wanted)}`,
    async () => {
      const { periods, ...totals } = await queue.stats(wanted)
      return { ...totals, names: await queue.names(), periods: together(periods) }
    },
    async () => {
      const { periods, ...totals } = await sides.http.get(`${url}/stats`, { ...wanted, ...query })
      return { ...totals, periods: together(periods as StatsPeriod[]) }
    },
  )
}
