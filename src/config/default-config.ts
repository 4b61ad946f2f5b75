/** What `bellows up` runs when it is given no file: processes of this machine, at no price. */
export const defaultConfigText = `# What \`bellows up\` runs when it is given no file.
# Start from here: bellows config default > bellows.yaml && bellows up -c bellows.yaml
fleet: local
strategy: cost

# Decide quickly, and launch all at once: processes come and go within a second.
limits: { upscalingSpeed: none }
loop: { evaluationInterval: 1s, reconcileInterval: 5s }

groups:
  - name: local
    provider: local # a host is a process of this machine
    host: { cpu: 4, memory: 8GiB }
    max: 8
    pricePerHour: 0 # paid for anyway
    idleTimeout: 30s
    # Nobody reports on these hosts until a scheduler of yours does: what needs room is what is pushed.
    unreported: idle
`;
