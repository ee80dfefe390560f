// A server of its own that asks the same Redis for one small value: `node bare-server.mjs <redis port>`. Tells its parent its port.

import { createServer } from 'node:http'
import { Redis } from 'ioredis'

const redis = new Redis(Number(process.argv[2]))
const server = createServer(async (_, response) => {
  response.end(JSON.stringify({ value: await redis.get('small') }))
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
process.on('disconnect', () => process.exit())
