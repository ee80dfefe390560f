// Attempts whose lease ended before their work, while no other attempt has begun.

import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseLostError } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/once-fixture.ts'

const LAPSES = { clock: 'real', lease: '60ms', maxHold: '0s' } as const
const LONG_MS = 120

test('a task that throws after its lease has lapsed frees its key, for any request', async () => {
  const { once } = await setup<string>(LAPSES)
  const fails = async (): Promise<string> => {
    await sleep(LONG_MS)
    throw new Error('card refused')
  }

  await expect(once.run('a', fails, { fingerprint: 'amount=10' })).rejects.toThrow('card refused')

  expect(await once.run('a', () => 'charged', { fingerprint: 'amount=12' })).toBe('charged')
})

test('a lapsed attempt can be released, also by the end of its block, until another attempt begins', async () => {
  const { once } = await setup<string>(LAPSES)
  const begin = (key: string) => once.begin(key, { fingerprint: 'first' })
  const [released, left] = await Promise.all([begin('a'), begin('b')])
  await sleep(LONG_MS)
  if (released.status !== 'started' || left.status !== 'started') throw new Error('not begun')

  await released.attempt.release()
  await left.attempt[Symbol.asyncDispose]()

  for (const key of ['a', 'b'])
    expect((await once.begin(key, { fingerprint: 'other' })).status).toBe('started')
})

test('a lapsed attempt that was taken over cannot be released', async () => {
  const { once } = await setup<string>(LAPSES)
  const begun = await once.begin('a')
  await sleep(LONG_MS)
  await once.begin('a')
  if (begun.status !== 'started') throw new Error('not begun')

  await expect(begun.attempt.release()).rejects.toThrow(LeaseLostError)
})

test('an attempt whose result could not be stored is not extended after the end of its block', async () => {
  const { once } = await setup({ clock: 'real', lease: '200ms' })
  const begun = await once.begin('a')
  if (begun.status !== 'started') throw new Error('not begun')
  await expect(begun.attempt.complete({ n: 1n })).rejects.toThrow()

  await begun.attempt[Symbol.asyncDispose]()

  await expect.poll(async () => (await once.begin('a')).status).toBe('started')
})
