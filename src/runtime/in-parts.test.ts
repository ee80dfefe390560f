import { describe, expect, test } from 'vitest'
import { AmbiguousError, DriverError } from './errors.ts'
import { inParts } from './in-parts.ts'

const refused = new DriverError('store-full', 'out of memory')

describe('what is carried out in parts', () => {
  test('resolves to what all of them bring, in order', async () => {
    const slow = new Promise<number[]>((resolve) => setTimeout(() => resolve([1, 2]), 10))

    expect(await inParts('jobs', 3, [slow, Promise.resolve([3])])).toEqual([1, 2, 3])
  })

  test('is ambiguous where one part was refused and another one was carried out, once both have ended', async () => {
    let ended = false
    const slow = new Promise<number[]>((resolve) => setTimeout(() => resolve([1, 2]), 10)).finally(
      () => (ended = true),
    )

    const error = await inParts('jobs', 3, [Promise.reject(refused), slow]).catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(AmbiguousError)
    expect(error).toMatchObject({ cause: refused })
    expect(String(error)).toContain('only 2 of 3 jobs were carried out')
    expect(ended).toBe(true)
  })

  test('did not happen where all parts were refused', async () => {
    await expect(inParts('jobs', 2, [Promise.reject(refused), Promise.reject(refused)])).rejects.toBe(refused)
  })

  test('is ambiguous where one part is', async () => {
    const unknown = new AmbiguousError('queue/enqueue')

    await expect(inParts('jobs', 2, [Promise.reject(refused), Promise.reject(unknown)])).rejects.toBe(unknown)
  })
})
