// A cluster of one node serves plain clients too. They and the cluster clients must meet on the same channels.

import { expect, onTestFinished, test } from 'vitest'
import { publish } from '../../src/testing/driver-ear.ts'
import { ask, until } from '../servers/ask.ts'
import { startCluster } from '../servers/cluster.ts'
import { wayToOpen } from './client.ts'

test.each(['ioredis', 'node-redis'])(
  '%s: on a cluster of one node a plain client knows and hears sharded channels, as a cluster client does',
  async (name) => {
    const cluster = await startCluster({ masters: 1 })
    onTestFinished(() => cluster.stop())
    const [port = 0] = cluster.ports
    const plain = await (await wayToOpen('singles', name))(port)
    onTestFinished(plain.close)
    const throughCluster = await (await wayToOpen('clusters', name))([port])
    onTestFinished(throughCluster.close)
    const heard: string[] = []
    const onMessage = (message: string): void => void heard.push(message)

    await plain.driver.subscribe('{slot}:news', { onMessage, onGap: () => void heard.push('gap') })
    await publish(throughCluster.driver, '{slot}:news', 'published')
    await until('it is heard', async () => heard.length > 0)

    expect(heard).toEqual(['published'])
    expect(await plain.driver.info()).toEqual({ ...(await throughCluster.driver.info()), database: 0 })
  },
)

test.each(['ioredis', 'node-redis'])(
  '%s: users of a cluster who may not ask for its version hear each other on plain channels',
  async (name) => {
    const cluster = await startCluster({ masters: 1 })
    onTestFinished(() => cluster.stop())
    const [port = 0] = cluster.ports
    await ask(port, 'ACL', 'SETUSER', 'default', '-info')
    const { driver, close } = await (await wayToOpen('clusters', name))([port])
    onTestFinished(close)
    const heard: string[] = []
    const onMessage = (message: string): void => void heard.push(message)

    await driver.subscribe('{slot}:news', { onMessage, onGap: () => void heard.push('gap') })
    await ask(port, 'PUBLISH', '{slot}:news', 'published')
    await until('it is heard', async () => heard.length > 0)

    expect(heard).toEqual(['published'])
  },
)
