// Many attempts in one call, live ones and others, by their tokens: each gets its own outcome.

import { drawFailure, drawNext, drawRetry } from './queue-attempts.ts'
import { leave, type QueueSteps, type QueueWorld, type Token, tokenOf, VALUES } from './queue-world.ts'
import type { Pair } from './sides.ts'

export function manyIn(world: QueueWorld): QueueSteps {
  return {
    steps: [
      () => ack(world),
      () => retry(world),
      () => fail(world),
      () => release(world),
      () => extend(world),
      () => advance(world),
      () => settleWrongly(world),
    ],
    looks: [],
  }
}

/** From now on they are known by their tokens. */
function draw(world: QueueWorld): Pair<Token>[] {
  const { dice } = world.sides
  const live = world.held.filter(() => dice.chance(0.4)).slice(0, 3)
  leave(world, live)
  const late = dice.chance(0.5) ? [dice.oneOf(world.over)] : []
  const all = [...live.map(({ here, there }) => ({ here: tokenOf(here), there })), ...late]
  return all.filter(({ there }, at) => all.findIndex((each) => each.there.token === there.token) === at)
}

/** The library's answer for each, with the attempt that it belongs to. */
function answerOf(given: readonly Token[], outcomes: readonly object[]): object {
  return { jobs: given.map(({ id, token }, at) => ({ id, token, ...outcomes[at] })) }
}

/** With the same said of both. */
function withSame(drawn: readonly Pair<Token>[], say: () => object): Pair<(Token & object)[]> {
  const said = drawn.map(say)
  return {
    here: drawn.map(({ here }, at) => ({ ...here, ...said[at] })),
    there: drawn.map(({ there }, at) => ({ ...there, ...said[at] })),
  }
}

type Settle = 'ack' | 'retry' | 'fail' | 'release'

async function settle(world: QueueWorld, what: Settle, say: () => object): Promise<void> {
  const { sides, queue, url, query } = world
  const drawn = draw(world)
  if (drawn.length === 0) return
  const jobs = withSame(drawn, say)
  await sides.same(
    `${what} ${JSON.stringify(jobs.there).slice(0, 300)}`,
    async () => answerOf(jobs.here, await queue.byToken[what](jobs.here)),
    () => sides.http.post(`${url}/${what}`, { jobs: jobs.there }, query),
  )
}

function ack(world: QueueWorld): Promise<void> {
  const { dice } = world.sides
  return settle(world, 'ack', () => (dice.chance(0.5) ? { result: dice.oneOf(VALUES) } : {}))
}

function retry(world: QueueWorld): Promise<void> {
  return settle(world, 'retry', () => drawRetry(world))
}

function fail(world: QueueWorld): Promise<void> {
  return settle(world, 'fail', () => drawFailure(world.sides.dice))
}

function release(world: QueueWorld): Promise<void> {
  return settle(world, 'release', () => (world.sides.dice.chance(0.4) ? { delay: '1h' } : {}))
}

async function extend(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query, held, over } = world
  const all = [
    ...held.slice(0, 2).map(({ here, there }) => ({ here: tokenOf(here), there })),
    sides.dice.oneOf(over),
  ]
  const here = all.map((each) => each.here)
  await sides.same(
    `extend ${all.length}`,
    async () => {
      const { jobs, ...until } = await queue.byToken.extend(here, '3h')
      return { ...until, ...answerOf(here, jobs) }
    },
    () => sides.http.post(`${url}/extend`, { jobs: all.map(({ there }) => there), lease: '3h' }, query),
  )
}

async function advance(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query, ids } = world
  const drawn = draw(world)
  if (drawn.length === 0) return
  const steps = drawn.map(({ here, there }) => {
    const next = drawNext(world)
    return { here: { ...here, next: next.here }, there: { ...there, next: next.there } }
  })
  const here = steps.map((step) => step.here)
  const pair = await sides.same(
    `advance ${JSON.stringify(steps.map(({ there }) => there)).slice(0, 400)}`,
    async () => ({
      jobs: await queue.byToken
        .ackAndEnqueue(here)
        .then((all) => all.map((each, at) => ({ ...tokenOf(here[at] as Token), ...each }))),
    }),
    () => sides.http.post(`${url}/ack-and-enqueue`, { jobs: steps.map(({ there }) => there) }, query),
  )
  for (const [at, each] of (pair?.here.jobs ?? []).entries()) {
    if (each.outcome === 'acked')
      ids.push({ here: each.next.id ?? '', there: pair?.there.jobs[at].next.id as string })
  }
}

async function settleWrongly({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const job = sides.dice.oneOf([
    { id: 'a', token: -1 },
    { id: 'a', token: 1.5 },
    { id: '', token: 1 },
    { id: 'a' },
    { id: 'a', token: 1, delay: '-1s' },
    { id: 'a', token: 1, kind: 'x'.repeat(300) },
    { id: 'a', token: 1, other: true },
  ])
  await sides.same(
    `retry ${JSON.stringify(job).slice(0, 60)}`,
    () => queue.byToken.retry([job as never]),
    () => sides.http.post(`${url}/retry`, { jobs: [job] }, query),
  )
}
