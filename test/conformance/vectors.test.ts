import { afterAll, describe, inject, test } from 'vitest'
import { playVector } from '../../src/testing/vector-player.ts'
import { readContract, readVectors, STRUCTURES } from './files.ts'
import { onCluster, onServer } from './places.ts'
import { someOf } from '../proof.ts'

const contracts = [readContract()] as const
const places = {
  'a single server': onServer(inject('redisPort')),
  'a cluster': await onCluster(inject('clusterPorts')),
}

afterAll(() => Promise.all(Object.values(places).map((place) => place.close())))

describe.each(someOf(Object.entries(places), 1))('on %s', (_, place) => {
  describe.each(STRUCTURES)('a %s', (structure) => {
    const file = readVectors(structure)

    for (const vector of file.vectors) {
      test(vector.it, () => playVector({ ...place, contracts }, file, vector))
    }
  })
})
