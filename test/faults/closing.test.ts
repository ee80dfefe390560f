// Processes that close with everything in their hands: they end by themselves, and leave nothing held.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, inject, test } from 'vitest'
import { forkProgram } from '../programs/fork.ts'
import { startProxy } from '../servers/proxy.ts'
import type { Ends, Order } from './closing-process.ts'
import { type Scene, scenes, type Stage } from './closing-scenes.ts'
import { someOf } from '../proof.ts'

const PROGRAM = new URL('closing-process.ts', import.meta.url)
const STRUCTURES = Object.keys(scenes)

type Later = (task: () => Promise<void> | void) => void

function instanceOn(namespace: string, later: Later): Perilune {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace })
  later(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

const scenesOf = (structure: string): [string, Scene][] => Object.entries(scenes[structure] ?? {})

function onStage(redis: Perilune, name: string): Stage {
  return { redis, name, watch: (call) => void call.catch(() => undefined) }
}

/**
 * The exit code of a process that closes, and how what it waited for has ended; `beforeClose` while it holds
 * everything.
 */
async function closes(
  order: Order,
  later: Later,
  beforeClose?: () => void,
): Promise<{ code: unknown; ends: Ends }> {
  const child = forkProgram(PROGRAM, [JSON.stringify(order)], { stdio: 'inherit' })
  later(() => void child.kill('SIGKILL'))
  let ends: Ends = {}
  child.on('message', (word) => {
    if (word !== 'holds') ends = word as Ends
    else if (order.waits) {
      beforeClose?.()
      child.send('close')
    }
  })
  const [code] = await once(child, 'exit')
  return { code, ends }
}

function expectedEnds(structure: string): Ends {
  return Object.fromEntries(scenesOf(structure).map(([title, { ends = [] }]) => [title, [...ends]]))
}

/** Held leases found by another process, by scene. */
async function leftOf(redis: Perilune, structure: string): Promise<Record<string, unknown>> {
  const left: Record<string, unknown> = {}
  for (const [title, scene] of scenesOf(structure)) {
    const found = await scene.left?.(onStage(redis, title))
    if (found) left[title] = found
  }
  return left
}

describe.each(someOf(['ioredis', 'node-redis'] as const, 1))(
  'a process with %s that closes its instance',
  (client) => {
    test.concurrent.for(STRUCTURES)('ends, and leaves nothing held: %s', async (structure, context) => {
      const later: Later = (task) => context.onTestFinished(task)
      const namespace = randomUUID()
      const redis = instanceOn(namespace, later)
      for (const [title, { prepare }] of scenesOf(structure)) await prepare?.(onStage(redis, title))
      const order = { client, port: inject('redisPort'), namespace, structure, waits: false }

      context.expect(await closes(order, later)).toEqual({ code: 0, ends: expectedEnds(structure) })
      context.expect(await leftOf(redis, structure)).toEqual({})
    })

    test.concurrent.for(STRUCTURES)(
      'ends even when no server answers any more: %s',
      async (structure, context) => {
        const later: Later = (task) => context.onTestFinished(task)
        const proxy = await startProxy(inject('redisPort'))
        later(() => proxy.stop())
        const namespace = randomUUID()
        const redis = instanceOn(namespace, later)
        for (const [title, { prepare }] of scenesOf(structure)) await prepare?.(onStage(redis, title))
        const order = { client, port: proxy.port, namespace, structure, waits: true }

        const { code, ends } = await closes(order, later, () => proxy.halfOpen())

        context.expect(code).toBe(0)
        // A release whose answer is missing ends with that error, so only the number of ends is compared.
        context.expect(countsOf(ends)).toEqual(countsOf(expectedEnds(structure)))
      },
    )
  },
)

function countsOf(ends: Ends): Record<string, number> {
  return Object.fromEntries(Object.entries(ends).map(([title, each]) => [title, each.length]))
}
