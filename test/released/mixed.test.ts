import { afterAll, describe, inject, test } from 'vitest'
import { type Contract } from '../../src/testing/vector-contract.ts'
import { playVector } from '../../src/testing/vector-player.ts'
import { readContract, readVectors, STRUCTURES } from '../conformance/files.ts'
import { onServer } from '../conformance/places.ts'
import { someOf } from '../proof.ts'

const current = readContract()
const released = readContract('../released/contract.json')
const place = onServer(inject('redisPort'))

const orders: Record<string, readonly [Contract, Contract]> = {
  'the released version begins': [released, current],
  'this version begins': [current, released],
}

// Of a structure whose stored data has another layout since then no vector is left.
const played = STRUCTURES.map((structure) => {
  const file = readVectors(structure)
  return [structure, file, file.vectors.filter(({ since }) => since === undefined)] as const
}).filter(([, , vectors]) => vectors.length > 0)

afterAll(() => place.close())

describe.each(someOf(Object.entries(orders), 1))('%s and both take turns', (_, contracts) => {
  describe.each(played)('on a %s', (_name, file, vectors) => {
    for (const vector of vectors) test(vector.it, () => playVector({ ...place, contracts }, file, vector))
  })
})
