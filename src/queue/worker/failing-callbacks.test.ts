// Callbacks of a worker that throw: this does not affect its jobs.

import { expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'
import { collectUncaught } from '../../../test/uncaught.ts'

const to = 'customer'

function fail(): never {
  throw new Error('of the callback')
}

test('an onError that throws leaves no job claimed and no concurrency used up', async () => {
  const uncaught = collectUncaught()
  const { queue } = await setup({ clock: 'real' })
  await queue.enqueue('mail', { to }, { maxAttempts: 1 })
  await queue.enqueue('image', { url: 'unknown' })
  await queue.enqueue('mail', { to: 'last' }, { priority: -1 })
  const done: string[] = []
  const handler = ({ payload }: { payload: { to: string } }): void => {
    if (payload.to === to) throw new Error('of the handler')
    done.push(payload.to)
  }

  await using _worker = queue.work({ mail: handler }, { concurrency: 1, onError: fail })
  await until(async () => (await queue.settings.inspect()).acked === 1)

  expect(done).toEqual(['last'])
  expect(await queue.settings.inspect()).toMatchObject({ dead: 1, claimed: 0 })
  await until(() => uncaught.length >= 2)
  expect(uncaught).toEqual(uncaught.map(() => expect.objectContaining({ message: 'of the callback' })))
})

test('an onSettled that throws is an uncaught exception, and other jobs continue', async () => {
  const uncaught = collectUncaught()
  const { queue } = await setup({ clock: 'real' })
  for (let at = 0; at < 3; at++) await queue.enqueue('mail', { to })

  await using _worker = queue.work({ mail: () => undefined }, { concurrency: 1, onSettled: fail })
  await until(async () => (await queue.settings.inspect()).acked === 3)

  await until(() => uncaught.length === 3)
  expect(uncaught).toEqual(uncaught.map(() => expect.objectContaining({ message: 'of the callback' })))
})
