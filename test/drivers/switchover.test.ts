// Subscriptions when a primary hands over as planned: it still answers its subscribers.

import { afterAll, beforeAll, describe, test } from 'vitest'
import { casesFor, type DriverContext, driverSuite } from '../../src/testing/driver-suite.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { type OneAddress, startOneAddress } from '../servers/one-address.ts'
import { type Sentinels, startSentinels } from '../servers/sentinels.ts'
import { waysToOpen } from './client.ts'
import { clusterPlace, oneAddressPlace, sentinelPlace } from './places.ts'

describe.each(await waysToOpen('singles'))('%s behind one address', (_, open) => {
  let pair: OneAddress
  let place: DriverContext

  beforeAll(async () => {
    pair = await startOneAddress()
    place = oneAddressPlace(pair, open)
  })
  afterAll(() => pair.stop())

  for (const each of casesFor(driverSuite, ['switchover', 'halfOpenSubscribers'])) {
    if (each.needs !== undefined) test(each.title, () => each.run(place))
  }
})

describe.each(await waysToOpen('clusters'))('%s on a cluster with replicas', (_, open) => {
  let cluster: RedisCluster
  let place: DriverContext

  beforeAll(async () => {
    cluster = await startCluster({ masters: 2, replicasPerMaster: 1 })
    place = clusterPlace(cluster, open)
  })
  afterAll(() => cluster.stop())

  for (const each of casesFor(driverSuite, ['switchover'])) {
    if (each.needs !== undefined) test(each.title, () => each.run(place))
  }
})

describe.each(await waysToOpen('sentinels'))('%s behind Sentinel, in a planned failover', (_, open) => {
  let group: Sentinels
  let place: DriverContext

  beforeAll(async () => {
    group = await startSentinels({ replicas: 1 })
    place = sentinelPlace(group, open)
  })
  afterAll(() => group.stop())

  for (const each of casesFor(driverSuite, ['switchover'])) {
    if (each.needs !== undefined) test(each.title, () => each.run(place))
  }
})
