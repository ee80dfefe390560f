import { afterAll, describe, inject, test } from 'vitest'
import { type Contract } from '../../src/testing/vector-contract.ts'
import { playVector } from '../../src/testing/vector-player.ts'
import { readContract, readVectors, STRUCTURES } from '../conformance/files.ts'
import { onServer } from '../conformance/places.ts'

const current = readContract()
const released = readContract('../released/contract.json')
const place = onServer(inject('redisPort'))

const orders: Record<string, readonly [Contract, Contract]> = {
  'the released version begins': [released, current],
  'this version begins': [current, released],
}

afterAll(() => place.close())

describe.each(Object.entries(orders))('%s and both take turns', (_, contracts) => {
  describe.each(STRUCTURES)('on a %s', (structure) => {
    const file = readVectors(structure)

    for (const vector of file.vectors.filter(({ since }) => since === undefined)) {
      test(vector.it, () => playVector({ ...place, contracts }, file, vector))
    }
  })
})
