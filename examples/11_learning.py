"""Learn to drive: a cross-entropy learner on 128 worlds in one compiled batch, then the policy in one world."""

import gymnasium

from paddock.envs.cross_entropy import learn

TASK = {"id": "paddock/CarRacing-v0", "observation": "track", "track": "park"}

worlds = gymnasium.make_vec(**TASK, num_envs=128)
learned = learn(worlds, generations=10, steps=200, seed=1)
for generation, score in enumerate(learned.returns):
    print(f"generation {generation}: return {score:5.1f}")

env = gymnasium.make(**TASK)
observation, info = env.reset(seed=100)
for _ in range(400):
    observation, _, terminated, truncated, info = env.step(learned.policy(observation))
    if terminated or truncated:
        break
print(f"{info['distance']:.0f} m along the track, {info['laps']:.0f} laps")
