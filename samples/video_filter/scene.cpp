#include "scene.h"

#include <cmath>

#include "filters.h"

namespace video {

using tessera::Tensor;

namespace {

// 1 where `inside` is above 0, 0 where it is below, and in between over the width of a pixel.
Tensor cover(const Tensor& inside, float pixels) { return clip(inside * pixels + 0.5f, 0, 1); }

}  // namespace

Scene::Scene(tessera::Context& gpu, Size size)
    : pixels_(static_cast<float>(size.height) / 2),
      aspect_(static_cast<float>(size.width) / static_cast<float>(size.height)) {
  const tessera::Shape picture{size.height, size.width, 3};
  const Tensor column = tessera::range(gpu, 0, size.width).reshape({1, size.width, 1});
  const Tensor row = tessera::range(gpu, 0, size.height).reshape({size.height, 1, 1});
  x_ = broadcast_to((column + 0.5f) / pixels_ - aspect_, picture);
  y_ = broadcast_to((row + 0.5f) / pixels_ - 1.0f, picture);
  is_red_ = broadcast_to(gpu.tensor({3}, {1, 0, 0}), picture);
  is_green_ = broadcast_to(gpu.tensor({3}, {0, 1, 0}), picture);
  gpu.compute(std::vector{x_, y_, is_red_, is_green_});

  const Tensor gradient = mix(of({0.16f, 0.30f, 0.62f}), of({1.00f, 0.62f, 0.38f}), clip(y_ * 0.7f + 0.6f, 0, 1));
  const Tensor from_sun = sqrt(square(x_ - 0.45f * aspect_) + square(y_ + 0.12f));
  const Tensor sun = of({1.00f, 0.93f, 0.70f});
  sky_ = mix(mix(gradient, sun, exp(from_sun * -3.0f) * 0.8f), sun, cover(0.22f - from_sun, pixels_)).compute();
}

Tensor Scene::of(const Colour& colour) const {
  return is_red_ * (colour.red - colour.blue) + is_green_ * (colour.green - colour.blue) + colour.blue;
}

Tensor Scene::with(const Tensor& picture, const Hills& hills) const {
  const Tensor waves = sin(x_ * 2.1f + hills.phase) + sin(x_ * 4.7f + 1.7f * hills.phase) * 0.4f;
  const Tensor depth = y_ + waves * hills.swing - hills.height;
  return mix(picture, of(hills.colour) * (1.25f - clip(depth, 0, 1) * 0.6f), cover(depth, pixels_));
}

Tensor Scene::with(const Tensor& picture, const Ball& ball) const {
  // Around the ball's centre, in units of its radius, and turned with it.
  const Tensor dx = (x_ - ball.x) / ball.radius, dy = (y_ - ball.y) / ball.radius;
  const Tensor u = dx * std::cos(ball.turn) + dy * std::sin(ball.turn);
  const Tensor v = dy * std::cos(ball.turn) - dx * std::sin(ball.turn);
  const Tensor r_squared = square(dx) + square(dy), r = sqrt(r_squared) + 1e-4f;
  // r sin(2 angle), or r sin(4 angle): positive in every other stripe.
  const Tensor stripes =
      ball.stripes == 2 ? u * v / r * 2.0f : u * v * (square(u) - square(v)) / (r * r_squared) * 4.0f;
  const float pixels = pixels_ * ball.radius;
  const Tensor painted =
      mix(of(ball.colour), of(ball.second_colour), cover(stripes, pixels / static_cast<float>(ball.stripes)));
  const Tensor from_light = square(dx + 0.4f) + square(dy + 0.45f);
  const Tensor glint = square(clip(1.0f - from_light * 10.0f, 0, 1)) * 0.6f;
  return mix(picture, clip(painted * (1.1f - from_light * 0.3f) + glint, 0, 1), cover(1.0f - r, pixels));
}

Tensor Scene::draw(int frame) const {
  const float t = static_cast<float>(frame) / 30;
  const auto bounce = [](float time) { return std::abs(std::sin(time)); };
  const Tensor distant =
      with(sky_, Hills{.height = 0.25f, .swing = 0.16f, .phase = 0.15f * t + 2, .colour = {0.42f, 0.26f, 0.45f}});
  const Tensor with_small_ball = with(distant, Ball{.x = std::sin(0.5f * t + 2.3f) * aspect_ * 0.8f,
                                                    .y = 0.15f - 0.55f * bounce(1.9f * t + 0.6f),
                                                    .radius = 0.13f,
                                                    .turn = -2 * t,
                                                    .stripes = 2,
                                                    .colour = {1.00f, 0.80f, 0.20f},
                                                    .second_colour = {0.12f, 0.45f, 0.88f}});
  const Tensor near =
      with(with_small_ball, Hills{.height = 0.62f, .swing = 0.10f, .phase = 0.6f * t, .colour = {0.13f, 0.30f, 0.24f}});
  return with(near, Ball{.x = 0.25f * aspect_ * std::sin(0.7f * t),
                         .y = 0.32f - 0.30f * bounce(2.3f * t + 0.5f),
                         .radius = 0.42f,
                         .turn = 0.8f * t,
                         .stripes = 4,
                         .colour = {0.90f, 0.16f, 0.20f},
                         .second_colour = {0.98f, 0.96f, 0.92f}});
}

}  // namespace video
