import { afterAll, beforeAll, describe, test } from 'vitest'
import { casesFor, type DriverContext, driverSuite } from '../../src/testing/driver-suite.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { waysToOpen } from './client.ts'
import { clusterPlace } from './places.ts'

describe.each(await waysToOpen('clusters'))('%s on a cluster', (_, open) => {
  let cluster: RedisCluster
  let place: DriverContext

  beforeAll(async () => {
    cluster = await startCluster({ masters: 3 })
    place = clusterPlace(cluster, open)
  })
  afterAll(() => cluster.stop())

  for (const each of casesFor(driverSuite, ['cluster', 'crash', 'moveSlot'])) {
    test(each.title, () => each.run(place))
  }
})
