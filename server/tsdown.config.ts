import { defineConfig, type UserConfig } from 'tsdown'

const config: UserConfig = defineConfig({
  entry: { main: 'main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  dts: false,
})

export default config
