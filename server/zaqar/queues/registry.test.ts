import { expect, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { zaqarLimits } from '../settings/limits.ts'
import { reservedKeys } from '../requests/metadata.ts'
import { Registry } from './registry.ts'

const meaning = { _default_message_ttl: 77, _max_claim_count: 3, _dead_letter_queue: 'dead' }
const metadata = { ...meaning, large: 'x'.repeat(60_000) }

test('only metadata keys with a meaning are remembered', async () => {
  const { redis, name } = instance()
  const place = { tenant: { scope: `p:${name}`, origin: '' }, queue: 'q' }
  const registry = new Registry(redis, zaqarLimits)

  await registry.register(place, metadata)
  expect(await registry.recall(place)).toEqual(meaning)
  expect(await registry.read(place)).toEqual(metadata)
  expect(await registry.recall(place)).toEqual(meaning)
  await registry.change(place, (known) => ({ ...known, _max_claim_count: 4 }))
  expect(await registry.recall(place)).toEqual({ ...meaning, _max_claim_count: 4 })
  expect(await new Registry(redis, zaqarLimits).recall(place)).toEqual({ ...meaning, _max_claim_count: 4 })
})

test('every key that is reserved has a meaning', async () => {
  const { redis, name } = instance()
  const place = { tenant: { scope: `p:${name}`, origin: '' }, queue: 'q' }
  const registry = new Registry(redis, zaqarLimits)
  const reserved = Object.fromEntries(Object.keys(reservedKeys(zaqarLimits)).map((key) => [key, 1]))

  await registry.register(place, reserved)

  expect(await registry.recall(place)).toEqual(reserved)
})
