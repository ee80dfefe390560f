// The outcome of one attempt: through the handle while it lasts, by its token when it is over.

import type { NextJob } from 'perilune'
import { notLost } from './outcome.ts'
import {
  drawJob,
  KINDS,
  LEASE,
  pathOf,
  type QueueSteps,
  type QueueWorld,
  type Token,
  takeHeld,
  VALUES,
} from './queue-world.ts'
import type { Pair } from './sides.ts'

export function attemptsIn(world: QueueWorld): QueueSteps {
  return {
    steps: [
      () => ack(world),
      () => ack(world),
      () => ackWithResult(world),
      () => ackWithResult(world),
      () => retry(world),
      () => retry(world),
      () => fail(world),
      () => fail(world),
      () => release(world),
      () => advance(world),
      () => extend(world),
      () => progress(world),
      () => log(world),
      () => settleOver(world),
      () => settleOver(world),
      () => noteOver(world),
    ],
    looks: [],
  }
}

function urlOf({ url }: QueueWorld, { id, token }: Token): string {
  return `${url}/jobs/${pathOf(id)}/claims/${token}`
}

async function ack(world: QueueWorld): Promise<void> {
  const one = takeHeld(world)
  if (one === null) return
  await world.sides.same(
    `ack ${one.there.id}`,
    () => one.here.ack(),
    () => world.sides.http.delete(urlOf(world, one.there), world.query),
  )
}

async function ackWithResult(world: QueueWorld): Promise<void> {
  const one = takeHeld(world)
  if (one === null) return
  const result = world.sides.dice.oneOf(VALUES)
  await world.sides.same(
    `ack ${one.there.id} with a result`,
    () => one.here.ack(result),
    () => world.sides.http.put(`${urlOf(world, one.there)}/result`, result, world.query),
  )
}

/** Without a delay its backoff says when: never meanwhile, or at once. */
export function drawRetry({ sides: { dice } }: QueueWorld): object {
  return {
    ...(dice.chance(0.5) && { delay: dice.oneOf(['0ms', '1h']) }),
    ...drawFailure(dice),
  }
}

export function drawFailure(dice: QueueWorld['sides']['dice']): { kind?: string; message?: string } {
  return {
    ...(dice.chance(0.7) && { kind: dice.oneOf(KINDS) }),
    ...(dice.chance(0.5) && { message: `message ${dice.upTo(9)}` }),
  }
}

async function retry(world: QueueWorld): Promise<void> {
  const { sides } = world
  const options = sides.dice.chance(0.1) ? { delay: 'soon' } : drawRetry(world)
  const one = 'delay' in options && options.delay === 'soon' ? world.held[0] : takeHeld(world)
  if (one === undefined || one === null) return
  await sides.same(
    `retry ${one.there.id} ${JSON.stringify(options)}`,
    async () => ({ id: one.here.id, token: one.here.token, outcome: await one.here.retry(options) }),
    () => sides.http.post(`${urlOf(world, one.there)}/retry`, options, world.query),
  )
}

async function fail(world: QueueWorld): Promise<void> {
  const { sides } = world
  const failure = drawFailure(sides.dice)
  const one = takeHeld(world)
  if (one === null) return
  await sides.same(
    `fail ${one.there.id} ${JSON.stringify(failure)}`,
    () => one.here.fail(failure),
    () => sides.http.post(`${urlOf(world, one.there)}/fail`, failure, world.query),
  )
}

async function release(world: QueueWorld): Promise<void> {
  const { sides } = world
  const options = sides.dice.chance(0.4) ? { delay: '1h' as const } : {}
  const one = takeHeld(world)
  if (one === null) return
  await sides.same(
    `release ${one.there.id} ${JSON.stringify(options)}`,
    () => one.here.release(options),
    () => sides.http.post(`${urlOf(world, one.there)}/release`, options, world.query),
  )
}

/** With a trace: a handle passes its own trace to a job without one, a call by token does not. */
export function drawNext(world: QueueWorld): Pair<NextJob> {
  const { here, there } = drawJob(world)
  const trace = 'trace of the next'
  return { here: { ...here, trace }, there: { ...there, trace } }
}

async function advance(world: QueueWorld): Promise<void> {
  const { sides, ids } = world
  const one = takeHeld(world)
  if (one === null) return
  const next = drawNext(world)
  const result = sides.dice.oneOf([undefined, ...VALUES])
  const pair = await sides.same(
    `advance ${one.there.id} to ${JSON.stringify(next.there)}`,
    async () => {
      const { id, token } = one.here
      return { id, token, next: await one.here.ackAndEnqueue(next.here, result) }
    },
    () =>
      sides.http.post(
        `${urlOf(world, one.there)}/ack-and-enqueue`,
        { next: next.there, result },
        world.query,
      ),
  )
  if (pair !== null) ids.push({ here: pair.here.next.id ?? '', there: pair.there.next.id as string })
}

async function extend(world: QueueWorld): Promise<void> {
  const { sides, held } = world
  if (held.length === 0) return
  const { here, there } = sides.dice.oneOf(held)
  await sides.same(
    `extend ${there.id}`,
    async () => {
      await here.extend('2h')
      return { id: here.id, token: here.token, leaseMs: 7_200_000, expiresAtMs: here.expiresAtMs }
    },
    () => sides.http.patch(urlOf(world, there), { lease: '2h' }, world.query),
  )
}

async function progress(world: QueueWorld): Promise<void> {
  const { sides, held } = world
  if (held.length === 0) return
  const { here, there } = sides.dice.oneOf(held)
  const value = sides.dice.oneOf(VALUES)
  await sides.same(
    `tell the progress of ${there.id}`,
    () => here.progress(value),
    () => sides.http.put(`${urlOf(world, there)}/progress`, value, world.query),
  )
}

async function log(world: QueueWorld): Promise<void> {
  const { sides, held } = world
  if (held.length === 0) return
  const { here, there } = sides.dice.oneOf(held)
  const line = sides.dice.oneOf(['begun', 'é', 'x'.repeat(2000)])
  await sides.same(
    `log a line of ${there.id}`,
    () => here.log(line),
    () => sides.http.post(`${urlOf(world, there)}/log`, { line }, world.query),
  )
}

/** Some repetitions get the first answer, others that the lease was lost. */
async function settleOver(world: QueueWorld): Promise<void> {
  const { sides, queue, query, over } = world
  const { here, there } = sides.dice.oneOf(over.slice(-8))
  const at = urlOf(world, there)
  const { byToken: settle } = queue
  const what = sides.dice.upTo(4)
  await sides.same(
    `${['ack', 'retry', 'fail', 'release', 'extend'][what]} ${there.id}, which is over`,
    async () => {
      if (what === 0) return void notLost(await settle.ack([here]))
      if (what === 1) return { ...here, ...notLost(await settle.retry([{ ...here, delay: '1h' }])) }
      if (what === 2) return void notLost(await settle.fail([here]))
      if (what === 3) return void notLost(await settle.release([here]))
      const { jobs, ...until } = await settle.extend([here], LEASE)
      notLost(jobs)
      return { ...here, ...until }
    },
    () => {
      if (what === 0) return sides.http.delete(at, query)
      if (what === 1) return sides.http.post(`${at}/retry`, { delay: '1h' }, query)
      if (what === 2) return sides.http.post(`${at}/fail`, {}, query)
      if (what === 3) return sides.http.post(`${at}/release`, {}, query)
      return sides.http.patch(at, { lease: LEASE }, query)
    },
  )
}

async function noteOver(world: QueueWorld): Promise<void> {
  const { sides, queue, query, over } = world
  const { here, there } = sides.dice.oneOf(over.slice(-8))
  const isLine = sides.dice.chance(0.5)
  await sides.same(
    `tell of ${there.id}, which is over`,
    async () => {
      const { byToken: settle } = queue
      notLost([isLine ? await settle.log(here, 'late') : await settle.progress(here, 'late')])
    },
    () => {
      const at = urlOf(world, there)
      return isLine
        ? sides.http.post(`${at}/log`, { line: 'late' }, query)
        : sides.http.put(`${at}/progress`, 'late', query)
    },
  )
}
