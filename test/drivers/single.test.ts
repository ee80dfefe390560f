import { afterAll, beforeAll, describe, test } from 'vitest'
import { casesFor, type DriverContext, driverSuite } from '../../src/testing/driver-suite.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { waysToOpen } from './client.ts'
import { singlePlace } from './places.ts'

describe.each(await waysToOpen('singles'))('%s on a single server', (_, open) => {
  let server: RedisServer
  let place: DriverContext

  beforeAll(async () => {
    server = await startRedis()
    place = singlePlace(server, open)
  })
  afterAll(() => server.stop())

  for (const each of casesFor(driverSuite, ['single', 'crash'])) {
    test(each.title, () => each.run(place))
  }
})
