// A server of its own that asks the same Redis for one small value: `node bare-server.mjs <redis port>`. Tells its parent its port.

import { createServer } from 'node:http'
import { Redis } from 'ioredis'

const redis = new Redis(Number(process.argv[2]))
const server = createServer((_, response) => {
  void redis.get('small', (error, value) => response.end(JSON.stringify({ value: error ? null : value })))
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
process.on('disconnect', () => process.exit())
