import { describe, expect, test } from 'vitest'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { errorOfPart, failureOf } from './in-parts.ts'

const refused = new DriverError('store-full', 'out of memory')

describe('a call that is split into parts', () => {
  test('is ambiguous when a part is rejected after others were carried out', () => {
    const error = errorOfPart('jobs', 2, 3, refused)

    expect(error).toBeInstanceOf(AmbiguousError)
    expect(error).toMatchObject({ cause: refused })
    expect(String(error)).toContain('only 2 of 3 jobs were carried out')
  })

  test('did not happen when the first part is rejected', () => {
    expect(errorOfPart('jobs', 0, 2, refused)).toBe(refused)
  })

  test('is ambiguous when one part is', () => {
    const unknown = new AmbiguousError('queue/enqueue')

    expect(errorOfPart('jobs', 1, 2, unknown)).toBe(unknown)
  })

  test('is reported as ambiguous, although another part was rejected before', async () => {
    const unknown = new AmbiguousError('queue/enqueue')
    const parts = await Promise.allSettled([
      Promise.resolve(),
      Promise.reject(refused),
      Promise.reject(unknown),
    ])

    expect(failureOf(parts)?.reason).toBe(unknown)
    expect(failureOf(parts.slice(0, 2))?.reason).toBe(refused)
    expect(failureOf(parts.slice(0, 1))).toBeUndefined()
  })
})
