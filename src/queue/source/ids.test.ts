import { expect, test } from 'vitest'
import { toId, toIds } from './source.ts'

test.each([null, 3])(
  'numbers one after the other are called as each alone is (partition %s)',
  (partition) => {
    const first = 1_763_791_234_999_998

    const ids = toIds({ partition }, first, 5)

    expect(ids).toEqual([0, 1, 2, 3, 4].map((at) => toId({ partition }, first + at)))
  },
)
