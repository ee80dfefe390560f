// A partitioned queue has the same methods as a queue.

import { Queue } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup as partitioned } from '../../test/partitioned-queue-fixture.ts'
import { setup as plain } from '../../test/queue-fixture.ts'

/** Methods that only one of them has, with the reason. */
const REASONS: Readonly<Record<string, string>> = {
  partitions: 'a queue without partitions has no number of them',
}
const PARTS = ['jobs', 'dead', 'settings', 'byToken', 'recurring'] as const

/** The fields and methods of an object and of its parts. */
function surfaceOf(queue: object): string[] {
  const parts = PARTS.flatMap((part) => namesOf(queue[part as keyof object]).map((name) => `${part}.${name}`))
  return [...namesOf(queue), ...parts]
}

function namesOf(thing: object): string[] {
  const methods = prototypesOf(thing).flatMap((each) => Object.getOwnPropertyNames(each))
  return [...Object.keys(thing), ...new Set(methods)].filter((name) => name !== 'constructor').toSorted()
}

function prototypesOf(thing: object): object[] {
  const prototype = Object.getPrototypeOf(thing) as object
  return prototype === Object.prototype ? [] : [prototype, ...prototypesOf(prototype)]
}

describe('a queue and a partitioned queue', () => {
  test('have the same methods, with the exceptions named here', async () => {
    const one = surfaceOf((await plain()).queue)
    const other = surfaceOf(partitioned().queue)

    expect(one).toEqual(expect.arrayContaining(['enqueue', 'claimDetached', 'jobs.history', 'byToken.ack']))
    const odd = [
      ...one.filter((name) => !other.includes(name)),
      ...other.filter((name) => !one.includes(name)),
    ]
    expect(odd.toSorted()).toEqual(Object.keys(REASONS).toSorted())
  })

  test('take the same arguments', () => {
    const { queue } = partitioned()
    const { prototype } = Queue
    for (const name of Object.getOwnPropertyNames(prototype).filter((each) => each !== 'constructor')) {
      const [one, other] = [prototype, queue].map((each) => each[name as keyof object] as () => unknown)
      expect([name, other?.length]).toEqual([name, one?.length])
    }
  })
})
