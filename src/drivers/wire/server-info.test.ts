import { expect, test } from 'vitest'
import { serverInfo } from './server-info.ts'

test.each([
  ['Redis, in a cluster', ['redis_version:7.0.15', 'redis_mode:cluster'], true],
  ['Redis, alone', ['redis_version:7.0.15', 'redis_mode:standalone'], false],
  ['Valkey, in a cluster', ['redis_version:7.2.4', 'valkey_version:9.1.2', 'server_mode:cluster'], true],
  ['Valkey, alone', ['redis_version:7.2.4', 'valkey_version:9.1.2', 'server_mode:standalone'], false],
])('INFO shows a plain client whether its server is in a cluster: %s', (_, lines, cluster) => {
  expect(serverInfo([`# Server\r\n${lines.join('\r\n')}\r\n`], false)).toMatchObject({ cluster })
})
