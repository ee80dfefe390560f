import { afterAll, beforeAll, describe, test } from 'vitest'
import { casesFor, type DriverContext, driverSuite } from '../../src/testing/driver-suite.ts'
import { type Sentinels, startSentinels } from '../servers/sentinels.ts'
import { waysToOpen } from './client.ts'
import { sentinelPlace } from './places.ts'

describe.each(await waysToOpen('sentinels'))('%s behind Sentinel', (_, open) => {
  let group: Sentinels
  let place: DriverContext

  beforeAll(async () => {
    group = await startSentinels({ replicas: 2 })
    place = sentinelPlace(group, open)
  })
  afterAll(() => group.stop())

  for (const each of casesFor(driverSuite, ['failover'])) {
    test(each.title, () => each.run(place))
  }
})
