#include "scene.h"

#include <cmath>

namespace video {

using tessera::Tensor;

namespace {

Tensor mix(const Tensor& from, const Tensor& to, const Tensor& share) { return from + (to - from) * share; }

// 1 where `inside` is above 0, 0 where it is below, and in between over the width of a pixel.
Tensor cover(const Tensor& inside, float sharpness) { return clip(inside * sharpness + 0.5f, 0, 1); }

}  // namespace

Scene::Scene(tessera::Context& gpu, Size size)
    : sharpness_(static_cast<float>(size.height) / 2),
      aspect_(static_cast<float>(size.width) / static_cast<float>(size.height)),
      x_(((tessera::range(gpu, 0, size.width) + 0.5f) / sharpness_ - aspect_).reshape({1, size.width, 1})),
      y_(((tessera::range(gpu, 0, size.height) + 0.5f) / sharpness_ - 1.0f).reshape({size.height, 1, 1})),
      far_(gpu.tensor({3}, {0.42f, 0.26f, 0.45f})),
      near_(gpu.tensor({3}, {0.13f, 0.30f, 0.24f})),
      red_(gpu.tensor({3}, {0.90f, 0.16f, 0.20f})),
      white_(gpu.tensor({3}, {0.98f, 0.96f, 0.92f})),
      blue_(gpu.tensor({3}, {0.12f, 0.45f, 0.88f})),
      yellow_(gpu.tensor({3}, {1.00f, 0.80f, 0.20f})) {
  const Tensor zenith = gpu.tensor({3}, {0.16f, 0.30f, 0.62f}), horizon = gpu.tensor({3}, {1.00f, 0.62f, 0.38f});
  const Tensor gradient = mix(zenith, horizon, clip(y_ * 0.7f + 0.6f, 0, 1));
  const Tensor from_sun = sqrt(square(x_ - 0.45f * aspect_) + square(y_ + 0.12f));
  const Tensor sun = gpu.tensor({3}, {1.00f, 0.93f, 0.70f});
  const Tensor shine = exp(from_sun * -3.0f) * 0.8f;
  sky_ = mix(mix(gradient, sun, shine), sun, cover(0.22f - from_sun, sharpness_));
  gpu.compute(std::vector{x_, y_, sky_, far_, near_, red_, white_, blue_, yellow_});
}

Tensor Scene::with_hills(const Tensor& picture, float height, float swing, float phase, const Tensor& colour) const {
  const Tensor ridge = height - (sin(x_ * 2.1f + phase) + sin(x_ * 4.7f + 1.7f * phase) * 0.4f) * swing;
  const Tensor depth = y_ - ridge;
  return mix(picture, colour * (1.25f - clip(depth, 0, 1) * 0.6f), cover(depth, sharpness_));
}

Tensor Scene::with_ball(const Tensor& picture, const Ball& ball) const {
  const Tensor dx = (x_ - ball.x) / ball.radius, dy = (y_ - ball.y) / ball.radius;
  const Tensor distance = sqrt(square(dx) + square(dy));
  const Tensor stripe = sin((atan2(dy, dx) + ball.turn) * ball.stripes) * distance;
  const Tensor painted = mix(ball.colour, ball.second_colour, cover(stripe, sharpness_ * ball.radius / ball.stripes));
  const Tensor light = 1.15f - 0.55f * sqrt(square(dx + 0.4f) + square(dy + 0.5f));
  const Tensor glint = exp((square(dx + 0.38f) + square(dy + 0.42f)) * -28.0f) * 0.7f;
  return mix(picture, clip(painted * light + glint, 0, 1), cover(1.0f - distance, sharpness_ * ball.radius));
}

Tensor Scene::draw(int frame) const {
  const float t = static_cast<float>(frame) / 30;
  const auto bounce = [](float time) { return std::abs(std::sin(time)); };
  Tensor picture = with_hills(sky_, 0.25f, 0.16f, 0.15f * t + 2.0f, far_);
  picture = with_ball(picture, {.x = std::sin(0.5f * t + 2.3f) * aspect_ * 0.8f,
                                .y = 0.15f - 0.55f * bounce(1.9f * t + 0.6f),
                                .radius = 0.13f,
                                .turn = -2 * t,
                                .stripes = 2,
                                .colour = yellow_,
                                .second_colour = blue_});
  picture = with_hills(picture, 0.62f, 0.10f, 0.6f * t, near_);
  return with_ball(picture, {.x = 0.25f * aspect_ * std::sin(0.7f * t),
                             .y = 0.32f - 0.30f * bounce(2.3f * t + 0.5f),
                             .radius = 0.42f,
                             .turn = 0.8f * t,
                             .stripes = 4,
                             .colour = red_,
                             .second_colour = white_});
}

}  // namespace video
