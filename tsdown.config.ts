import { type UserConfig, defineConfig } from 'tsdown'

// One entry per subpath of `exports` in package.json.
const config: UserConfig = defineConfig({
  entry: {
    index: 'src/index.ts',
    feed: 'src/feed/feed.ts',
    lock: 'src/lock/lock.ts',
    semaphore: 'src/semaphore/semaphore.ts',
    once: 'src/once/once.ts',
    middleware: 'src/middleware/middleware.ts',
    fastify: 'src/middleware/fastify.ts',
    express: 'src/middleware/express.ts',
    hono: 'src/middleware/hono.ts',
    ioredis: 'src/drivers/ioredis.ts',
    'node-redis': 'src/drivers/node-redis.ts',
    'rate-limit': 'src/rate-limit/rate-limit.ts',
    testing: 'src/testing/index.ts',
  },
  format: ['esm', 'cjs'],
  platform: 'node',
  target: 'node20.19',
  dts: { oxc: true },
})

export default config
